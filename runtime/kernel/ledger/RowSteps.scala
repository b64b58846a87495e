package org.apache.spark.sql.streamc

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.streamc.TableRows

/** What a node of a plan does with one row: it computes, and produces none, one or several rows. */
private[streamc] trait RowStep extends Serializable {
  /** Called once in each task, before the first row. */
  def begin(): Unit

  /** Throws FailedPart when an expression fails on the row. */
  def take(row: InternalRow, next: InternalRow => Unit): Unit
}

/** An expression of a node that has failed on a row. */
private[streamc] class FailedPart(
    val whole: Expression, val names: Seq[String], val row: InternalRow, val error: Throwable)
    extends Exception(null, null, false, false)

/** Expressions over the rows of a node's input, computed one by one and without generated code. */
private[streamc] class Computed(expressions: Seq[Expression], input: Seq[Attribute])
    extends Serializable {
  private val names = input.map(_.name)
  private val bound =
    expressions.map(e => BindReferences.bindReference(e, AttributeSeq(input))).toArray

  val size: Int = bound.length

  def begin(): Unit = bound.foreach(_.foreach {
    case chance: Nondeterministic => chance.initialize(0)
    case _ =>
  })

  def apply(i: Int, row: InternalRow): Any =
    try bound(i).eval(row)
    catch {
      case inner: FailedPart => throw inner
      case NonFatal(e) => throw new FailedPart(bound(i), names, row, e)
    }

  def all(row: InternalRow): Unit = {
    var i = 0
    while (i < size) {
      apply(i, row)
      i += 1
    }
  }
}

/**
 * Columns that are computed when they are read: generated code defers them, so that whatever a
 * filter or a join above drops is never computed.
 */
private[streamc] class DeferredRow(computed: Computed, below: InternalRow) extends BaseGenericInternalRow {
  private val values = new Array[Any](computed.size)
  private val known = new Array[Boolean](computed.size)

  override def numFields: Int = computed.size

  override protected def genericGet(i: Int): Any = {
    if (!known(i)) {
      values(i) = computed(i, below)
      known(i) = true
    }
    values(i)
  }

  override def setNullAt(i: Int): Unit = throw new UnsupportedOperationException
  override def update(i: Int, value: Any): Unit = throw new UnsupportedOperationException
}

/** The rows that lists of columns make of a row, one for each list. */
private[streamc] class Projected(lists: Seq[Seq[Expression]], input: Seq[Attribute]) extends RowStep {
  private val computed = lists.map(new Computed(_, input))

  override def begin(): Unit = computed.foreach(_.begin())
  override def take(row: InternalRow, next: InternalRow => Unit): Unit =
    computed.foreach(one => next(new DeferredRow(one, row)))
}

/**
 * The rows on which all parts of a condition are true. Generated code checks for NULLs early, and
 * stops when a part is NULL.
 */
private[streamc] class Kept(parts: Seq[Expression], input: Seq[Attribute]) extends RowStep {
  private val (present, others) = parts.partition(_.isInstanceOf[IsNotNull])
  private val computed = new Computed(present ++ others, input)

  override def begin(): Unit = computed.begin()
  override def take(row: InternalRow, next: InternalRow => Unit): Unit = {
    var i = 0
    while (i < computed.size && computed(i, row) == true) i += 1
    if (i == computed.size) next(row)
  }
}

/** Expressions that are computed of each row in addition to it: the keys of a join. */
private[streamc] class Looked(expressions: Seq[Expression], input: Seq[Attribute]) extends RowStep {
  private val computed = new Computed(expressions, input)

  override def begin(): Unit = computed.begin()
  override def take(row: InternalRow, next: InternalRow => Unit): Unit = {
    computed.all(row)
    next(row)
  }
}

/** Rows that are written, with all their columns. */
private[streamc] class Written extends RowStep {
  override def begin(): Unit = ()
  override def take(row: InternalRow, next: InternalRow => Unit): Unit = {
    (0 until row.numFields).foreach(row.isNullAt)
    next(row)
  }
}

/** The arguments of aggregates, each after the filter of its aggregate. */
private[streamc] class Arguments(
    arguments: Seq[(Option[Expression], Seq[Expression])], input: Seq[Attribute]) extends RowStep {
  private val computed = arguments.map { case (filter, values) =>
    new Computed(filter.toSeq, input) -> new Computed(values, input)
  }

  override def begin(): Unit = computed.foreach { case (a, b) => a.begin(); b.begin() }
  override def take(row: InternalRow, next: InternalRow => Unit): Unit = {
    computed.foreach { case (filter, values) =>
      if (filter.size == 0 || filter(0, row) == true) values.all(row)
    }
    next(row)
  }
}

/** The elements of a list next to those columns of a row that are `kept`. */
private[streamc] class Listed(
    generator: Expression, kept: Seq[Attribute], outer: Boolean, width: Int, input: Seq[Attribute])
    extends RowStep {
  private val made = new Computed(Seq(generator), input)
  private val beside = new Computed(kept, input)
  private val nothing = new GenericInternalRow(width)

  override def begin(): Unit = { made.begin(); beside.begin() }
  override def take(row: InternalRow, next: InternalRow => Unit): Unit = {
    val found = made(0, row).asInstanceOf[IterableOnce[InternalRow]].iterator
    val own = new DeferredRow(beside, row)
    if (found.isEmpty && outer) next(new JoinedRow(own, nothing))
    else found.foreach(element => next(new JoinedRow(own, element)))
  }
}

/** A row joined with the rows of a table that have its keys. */
private[streamc] class LookedUp(
    table: TableRows,
    condition: Option[Expression],
    kind: JoinType,
    tableFirst: Boolean,
    own: Seq[Attribute],
    ofTable: Seq[Attribute]) extends RowStep {
  private val matches = new Computed(condition.toSeq, if (tableFirst) ofTable ++ own else own ++ ofTable)
  private val nothing = new GenericInternalRow(ofTable.length)

  override def begin(): Unit = { matches.begin(); table.begin() }

  override def take(row: InternalRow, next: InternalRow => Unit): Unit = {
    val rows = table.of(row).map(beside(row, _))
      .filter(both => matches.size == 0 || matches(0, both) == true)
    kind match {
      case LeftSemi => if (rows.hasNext) next(row)
      case LeftAnti => if (rows.isEmpty) next(row)
      case LeftOuter | RightOuter if rows.isEmpty => next(beside(row, nothing))
      case _ => rows.foreach(next)
    }
  }

  private def beside(row: InternalRow, found: InternalRow): InternalRow =
    if (tableFirst) new JoinedRow(found, row) else new JoinedRow(row, found)
}
