package org.apache.spark.sql.streamc

import scala.concurrent.{Await, TimeoutException}
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods

import org.apache.spark.{QueryContext, QueryContextType, SparkThrowable, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{ColumnarToRowExec, FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.execution.streaming.runtime.{StreamExecution, StreamingQueryWrapper}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.types.StringType

/**
 * The row that an expression has failed on.
 *
 * Nothing is recorded while a batch runs. After it has failed, its input is read once more, and for
 * each row whatever the plan computes of it alone is computed: up to the first operator whose
 * output depends on other rows. A row is reported only if one of these expressions then fails on it
 * with the very error that ended the batch.
 */
object FailedRow {
  /** A property of tasks that look for a row, whose readers report their positions. */
  private val Looking = "streamc.failed.row"

  def looking: Boolean =
    Option(TaskContext.get()).exists(_.getLocalProperty(Looking) != null)

  /**
   * What is known of the expression and the row that `thrown` is about, and of the batch, as JSON:
   * `expression`, `row`, `batch` and `inputs`; null if it is about something else. Takes at most
   * `seconds`.
   */
  def of(query: StreamingQuery, thrown: Throwable, seconds: Int): String = {
    val running = query.asInstanceOf[StreamingQueryWrapper].streamingQuery
    val chain = Iterator.iterate(thrown)(_.getCause).takeWhile(_ != null).toSeq
    val wanted = chain.collect { case e: Throwable with SparkThrowable if isOfData(e) => e }.lastOption
    val inPython = chain.lastOption.exists(_.getClass.getSimpleName == "PythonException")
    if (running.lastExecution == null || wanted.isEmpty && !inPython) null
    else running.lastExecution.sparkSession.withActive {
      val found = wanted.flatMap { error =>
        try find(running, error, seconds.seconds.fromNow) catch { case NonFatal(_) => None }
      }
      val part = wanted.flatMap(e => fragment(e.getQueryContext)).orElse(found.flatMap(_.expression))
      JsonMethods.compact(JObject(
        "expression" -> part.map(JString(_)).getOrElse(JNull),
        "row" -> found.map(_.json).getOrElse(JNull),
        "batch" -> JLong(running.lastExecution.currentBatchId),
        "inputs" -> JArray(BatchInput.of(running).toList)))
    }
  }

  /** Whether an error is about a value, by SQL's classes. */
  private def isOfData(error: SparkThrowable): Boolean = error match {
    case e: RuntimeException => Option(e.asInstanceOf[SparkThrowable].getSqlState)
      .exists(state => OfData.exists(state.startsWith))
    case _ => false
  }

  /**
   * A scalar subquery with several rows, a value out of range, a constraint, `raise_error`, a
   * date's format.
   */
  private val OfData = Seq("21", "22", "23", "P0", "42K0B")

  /** The text of the expression, if it was written in SQL. */
  private[streamc] def fragment(contexts: Array[QueryContext]): Option[String] =
    contexts.find(_.contextType == QueryContextType.SQL).map(_.fragment).filter(_.nonEmpty)

  private def find(
      query: StreamExecution, error: Throwable, until: Deadline): Option[FoundRow] = {
    val session = query.lastExecution.sparkSession
    val context = session.sparkContext
    val (class_, message) = (error.getClass.getName, error.getMessage)
    val before = context.getLocalProperties.clone().asInstanceOf[java.util.Properties]
    context.setLocalProperty(Looking, "true")
    EpochInstant.restore(session, query.id.toString)
    try {
      RowPaths.of(query.lastExecution.executedPlan).iterator.filter(_.steps.nonEmpty).flatMap { path =>
        val search = new RowSearch(LeafPlace.of(path.leaf), path.steps, class_, message)
        val rows = leafRows(path.leaf)
        val found = new Array[Option[FoundRow]](rows.getNumPartitions)
        val job = context.submitJob[InternalRow, Option[FoundRow], Unit](
          rows, search.first, rows.partitions.indices, (n, row) => found(n) = row, ())
        try Await.ready(job, until.timeLeft.max(Duration.Zero))
        catch { case _: TimeoutException => job.cancel() }
        found.iterator.filter(_ != null).flatten
      }.nextOption()
    } finally context.setLocalProperties(before)
  }

  /** All rows of a leaf: a reader that skips rows by a filter would miscount them. */
  private def leafRows(leaf: SparkPlan): RDD[InternalRow] = leaf match {
    case files: FileSourceScanExec => inWholeFiles(files.relation.sparkSession.asInstanceOf[SparkSession]) {
      rowsOf(files.copy(dataFilters = Nil))
    }
    case other => rowsOf(other)
  }

  private def rowsOf(leaf: SparkPlan): RDD[InternalRow] =
    if (leaf.supportsColumnar) ColumnarToRowExec(leaf).execute() else leaf.execute()

  /** Reads each file from its beginning to its end, so that its rows can be counted. */
  private def inWholeFiles[T](session: SparkSession)(read: => T): T = {
    val conf = session.sessionState.conf
    val wanted = Seq(
      SQLConf.FILES_MAX_PARTITION_BYTES.key -> (Long.MaxValue / 4).toString,
      SQLConf.FILES_MIN_PARTITION_NUM.key -> "1")
    val before = wanted.map { case (key, _) => key -> Option(conf.getConfString(key, null)) }
    wanted.foreach { case (key, value) => conf.setConfString(key, value) }
    try read
    finally before.foreach {
      case (key, Some(value)) => conf.setConfString(key, value)
      case (key, None) => conf.unsetConf(key)
    }
  }
}

/** A row that was found: where it is, and the columns that were read. */
case class FoundRow(place: Option[String], expression: Option[String], values: Seq[(String, String)]) {
  def json: JValue = JObject(
    "place" -> place.map(JString(_)).getOrElse(JNull),
    "values" -> JArray(values.map { case (name, value) =>
      JArray(List(JString(name), JString(value)))
    }.toList))
}

/** Looks for the first row of a partition on which the steps fail with this error. */
private class RowSearch(place: LeafPlace, steps: Seq[RowStep], error: String, message: String)
    extends Serializable {
  private type Next = InternalRow => Unit

  def first(rows: Iterator[InternalRow]): Option[FoundRow] = {
    steps.foreach(_.begin())
    val through = steps.foldRight[Next](_ => ())((step, next) => step.take(_, next))
    // A row that can't be read ends the search, as it would have ended the batch.
    try {
      while (rows.hasNext) {
        val row = rows.next()
        place.pass()
        try through(row)
        catch {
          case part: FailedPart if same(part.error) => return Some(found(part, row))
          case NonFatal(_) =>
        }
      }
      None
    } catch { case NonFatal(_) => None }
  }

  private def same(found: Throwable): Boolean =
    found.getClass.getName == error && found.getMessage == message

  private def found(part: FailedPart, row: InternalRow): FoundRow = {
    val chain = culprits(part.whole, part.row)
    val columns = chain.map(ReadColumns.of(_, part.names))
    val values = columns.filter(_.nonEmpty).lastOption.getOrElse(Nil).map { case (name, e) =>
      name -> ReadColumns.shown(e, part.row)
    }
    val text = chain.flatMap(e => FailedRow.fragment(e.origin.getQueryContext)).lastOption
      .orElse(Option.when(columns.last.nonEmpty)(ReadColumns.text(chain.last, part.names)))
    FoundRow(place.of(row), text, values)
  }

  /** The expression, and the parts of it that fail in the same way, from the outside in. */
  private def culprits(whole: Expression, row: InternalRow): List[Expression] =
    whole :: whole.children.find(fails(_, row)).map(culprits(_, row)).getOrElse(Nil)

  private def fails(e: Expression, row: InternalRow): Boolean =
    !e.exists(_.isInstanceOf[NamedLambdaVariable]) &&
      (try { e.eval(row); false } catch { case NonFatal(found) => same(found) })
}

/** The columns that an expression reads, each field of a struct on its own. */
private object ReadColumns {
  def of(e: Expression, names: Seq[String]): Seq[(String, Expression)] = {
    def read(e: Expression): Seq[(String, Expression)] = name(e, names) match {
      case Some(name) => Seq(name -> e)
      case None => e.children.flatMap(read)
    }
    read(e).distinctBy(_._1)
  }

  private def name(e: Expression, names: Seq[String]): Option[String] = e match {
    case BoundReference(i, _, _) => Some(names(i))
    case field: GetStructField => name(field.child, names).map(s => s"$s.${field.extractFieldName}")
    case _ => None
  }

  /** The expression with column names; for `raise_error`, its arguments. */
  def text(e: Expression, names: Seq[String]): String = {
    val named = e.transform { case BoundReference(i, t, n) => AttributeReference(names(i), t, n)() }
    named match {
      case RaiseError(_, CreateMap(Seq(_, message), _), _) => s"raise_error(${message.sql})"
      case other => other.sql
    }
  }

  def shown(e: Expression, row: InternalRow): String = {
    val value = e.eval(row)
    if (value == null) "NULL"
    else {
      val text = ToPrettyString(Literal(value, e.dataType), Some("UTC")).eval(null).toString
      e.dataType match {
        case _: StringType => Texts.quoted(text)
        case _ => Malformed.shown(text)
      }
    }
  }
}
