package org.apache.spark.sql.streamc

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.trees.LeafLike
import org.apache.spark.sql.types._

/**
 * Where the expressions of a program find the state of the key that is handled. The processor of a
 * task sets it; the two are serialized together, so that each task has its own.
 */
class Place extends Serializable {
  @transient var entries: Array[Entries] = _
  @transient var frames: Array[Frame] = _
  @transient var watermark: java.lang.Long = _
  @transient var now: Long = 0

  /** The current time as programs see it: the epoch's, in every query that runs the program. */
  @transient var epochTime: Long = 0
}

/** What a program reads besides its row and values: never folded, never evaluated on the driver. */
abstract class StateRead extends Expression with CodegenFallback {
  override def foldable: Boolean = false
  override def nullable: Boolean = true
}

/** One entry of a map, NULL if it has none. */
case class EntryOf(place: Place, cell: Int, dataType: DataType, child: Expression)
    extends StateRead {
  override def children: Seq[Expression] = Seq(child)

  override def eval(row: InternalRow): Any = {
    val key = child.eval(row)
    if (key == null) null else place.entries(cell).get(key)
  }

  override def prettyName: String = "entry"

  override protected def withNewChildrenInternal(found: IndexedSeq[Expression]): Expression =
    copy(child = found.head)
}

/** Whether a map or a set has an entry; NULL for NULL. */
case class ContainsEntry(place: Place, cell: Int, child: Expression) extends StateRead {
  override def dataType: DataType = BooleanType
  override def children: Seq[Expression] = Seq(child)

  override def eval(row: InternalRow): Any = {
    val key = child.eval(row)
    if (key == null) null else place.entries(cell).contains(key)
  }

  override protected def withNewChildrenInternal(found: IndexedSeq[Expression]): Expression =
    copy(child = found.head)
}

/** The number of entries in a map, set or list. */
case class SizeOf(place: Place, cell: Int) extends StateRead with LeafLike[Expression] {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def eval(row: InternalRow): Any = place.entries(cell).size
}

/** A whole map, set or list. */
case class WholeCell(place: Place, cell: Int, dataType: DataType)
    extends StateRead
    with LeafLike[Expression] {
  override def nullable: Boolean = false
  override def eval(row: InternalRow): Any = place.entries(cell).whole
}

/** An aggregate over the rows of a frame. */
case class RolledValue(place: Place, frame: Int, function: Int, dataType: DataType)
    extends StateRead
    with LeafLike[Expression] {
  override def eval(row: InternalRow): Any = place.frames(frame).value(function)
}

/** The watermark of the epoch, NULL before there is one. */
case class WatermarkOf(place: Place) extends StateRead with LeafLike[Expression] {
  override def dataType: DataType = TimestampType
  override def eval(row: InternalRow): Any = place.watermark
}

/** The processing time of the epoch. */
case class NowOf(place: Place) extends StateRead with LeafLike[Expression] {
  override def dataType: DataType = TimestampType
  override def nullable: Boolean = false
  override def eval(row: InternalRow): Any = place.epochTime
}

/** Reads a column, NULL as null. Deciding by type for each row would look up Spark's settings. */
private[streamc] object Getter {
  def apply(kind: DataType): (SpecializedGetters, Int) => Any =
    InternalRow.getAccessor(kind, nullable = true)
}

/** The row itself, which Spark passes on without converting it to an object. */
case class WholeRow() extends LeafExpression {
  override def dataType: DataType = ObjectType(classOf[InternalRow])
  override def nullable: Boolean = false
  override def eval(row: InternalRow): Any = row

  override protected def doGenCode(context: CodegenContext, made: ExprCode): ExprCode = made.copy(
    code = code"InternalRow ${made.value} = ${context.INPUT_ROW};", isNull = FalseLiteral)
}

/** A column of a row that Spark treats as an object. */
case class ColumnOf(child: Expression, ordinal: Int, dataType: DataType) extends UnaryExpression {
  @transient private lazy val column = Getter(dataType)

  override def nullable: Boolean = true

  override def eval(row: InternalRow): Any =
    column(child.eval(row).asInstanceOf[InternalRow], ordinal)

  override protected def doGenCode(context: CodegenContext, made: ExprCode): ExprCode = {
    val row = child.genCode(context)
    val kind = CodeGenerator.javaType(dataType)
    val found = CodeGenerator.getValue(s"((InternalRow) ${row.value})", dataType, ordinal.toString)
    made.copy(code = code"""
      ${row.code}
      boolean ${made.isNull} = ((InternalRow) ${row.value}).isNullAt($ordinal);
      $kind ${made.value} =
        ${made.isNull} ? ${CodeGenerator.defaultValue(dataType)} : ($kind) $found;
      """)
  }

  override protected def withNewChildInternal(found: Expression): Expression = copy(child = found)
}
