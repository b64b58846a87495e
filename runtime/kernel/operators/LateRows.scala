package org.apache.spark.sql.streamc

import java.util.UUID

import org.apache.spark.TaskContext
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, TransformWithState}
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.types._

/**
 * The rows that an operator drops as late, in a query of their own.
 *
 * Spark's operators drop a row by the watermark that the previous batch was planned with, not by
 * that of its own batch. A query that reads the same rows has the same watermarks, batch by batch,
 * as long as nothing removes rows below the node that observes them. Spark moves filters down
 * there, which must be prevented in both queries: neither [[LatePassed]] nor [[EveryRow]] lets a
 * filter pass.
 */
object LateRows {

  /**
   * The rows that are late by their `time`, and the watermark that they missed. With a `window` of
   * some size, which begins `every` so often and is shifted by `offset`, they are late for the last
   * one that they belong to, and they are late `after` that.
   */
  def of(
      frame: DataFrame,
      time: String,
      window: String,
      every: String,
      offset: String,
      after: String): DataFrame = {
    val rows = frame.asInstanceOf[Dataset[Row]]
    val plan = rows.queryExecution.analyzed
    val at = plan.output.find(_.name.equalsIgnoreCase(time))
      .getOrElse(throw new IllegalArgumentException(s"no column $time"))
    val open = micros(after)
    val until =
      if (window == null) Until(None, open)
      else Until(Some(TimeWindow(at, window, every, offset)), open)
    // They are later than every watermark: to the plan above they have no event time.
    val columns = plan.output
      .map(column => Alias(column, column.name)(explicitMetadata = Some(Metadata.empty)))
    val passed = Alias(WatermarkBefore(), "watermark")()
    val late = Project(columns :+ passed, Filter(LatePassed(at, until), plan))
    Dataset.ofRows(rows.sparkSession, late).asInstanceOf[Dataset[Row]]
  }

  private def micros(length: String): Long = {
    val interval = IntervalUtils.fromIntervalString(length)
    interval.microseconds + interval.days * 86400000000L
  }

  /** All rows; no filter above removes any before they have moved the watermark. */
  def every(frame: DataFrame): DataFrame = {
    val rows = frame.asInstanceOf[Dataset[Row]]
    Dataset.ofRows(rows.sparkSession, Filter(EveryRow(), rows.queryExecution.analyzed))
      .asInstanceOf[Dataset[Row]]
  }

  /**
   * Whether a frame has the same rows each time that it is computed; the expressions of this file
   * do not prevent that. A table may change while the job is stopped.
   */
  def repeatable(frame: DataFrame): Boolean =
    !frame.asInstanceOf[Dataset[_]].queryExecution.analyzed.exists {
      case LogicalRelation(_: TableRelation, _, _, _, _) => true
      case made: TransformWithState =>
        KeyedProcess.unapply(made.statefulProcessor).exists(_.program.byChance)
      case node => node.expressions.exists(Chance.isIn)
    }
}

/** The watermark of the previous batch, recorded in a query's thread when a batch is planned. */
private[streamc] object WatermarkBefore {
  private val Key = "streamc.watermark.before"

  /**
   * With `settled`, each batch with rows is followed by one without if needed, except in a query
   * without state: there the previous batch counts as one without rows, whose watermark is that of
   * the batch being planned.
   */
  def note(session: SparkSession, settled: Boolean = false): Unit = {
    val context = session.sparkContext
    for {
      id <- Option(context.getLocalProperty(StreamExecution.QUERY_ID_KEY))
      query <- Option(session.sharedState.activeStreamingQueries.get(UUID.fromString(id)))
      if isRead(query.logicalPlan)
    } {
      val log = query.offsetLog
      val before = log.getLatestBatchId()
        .flatMap(last => log.offsetSeqMetadataForBatchId(if (settled) last else last - 1))
      val at = before.map(_.batchWatermarkMs).getOrElse(Watermarks.Unknown)
      context.setLocalProperty(Key, at.toString)
    }
  }

  private def isRead(plan: LogicalPlan): Boolean = plan.exists {
    case made: TransformWithState =>
      KeyedProcess.unapply(made.statefulProcessor).exists(_.program.readsBefore)
    case node => node.expressions.exists(_.exists(_.isInstanceOf[WatermarkBefore]))
  }

  /** In microseconds; the first instant of all if there is none yet. */
  def here: Long = Watermarks.micros(
    Option(TaskContext.get()).flatMap(task => Option(task.getLocalProperty(Key)))
      .map(_.toLong).getOrElse(Watermarks.Unknown))
}

/** The watermark by which operators drop rows in the current batch. */
case class WatermarkBefore() extends LeafExpression with CodegenFallback {
  override def dataType: DataType = TimestampType
  override def nullable: Boolean = false
  override def foldable: Boolean = false
  override lazy val deterministic: Boolean = false

  @transient private lazy val found: Long = WatermarkBefore.here

  override def eval(row: InternalRow): Any = found
}

/**
 * How long rows are in time, in microseconds: until their last window has ended, and longer. A row
 * that has no windows, which would not lie within time, is late from the beginning.
 */
private[streamc] case class Until(
    size: Long, every: Long, start: Long, after: Long) {
  private val last = Watermarks.Last * 1000

  def of(at: Long): Long =
    if (every == 0 && after == 0) at
    else if (every == 0) windowed(at, at, after)
    else windowed(at, at - Math.floorMod(at - start, every), size) match {
      case Long.MinValue => Long.MinValue
      case end => if (end > Long.MaxValue - after) Long.MaxValue else end + after
    }

  private def windowed(at: Long, begin: Long, length: Long): Long = {
    val others = if (every == 0) 0 else (length - 1) / every * every
    val held = begin <= at && begin <= last - length && begin >= Long.MinValue + others
    if (held) begin + length else Long.MinValue
  }
}

private[streamc] object Until {
  def apply(window: Option[TimeWindow], after: Long): Until = window match {
    case Some(w) => Until(w.windowDuration, w.slideDuration, w.startTime, after)
    case None => Until(0, 0, 0, after)
  }
}

/** Whether the previous batch's watermark has reached the instant until which a row is in time. */
case class LatePassed(child: Expression, until: Until)
    extends UnaryExpression
    with Predicate
    with CodegenFallback {
  private val before = WatermarkBefore()

  override def nullable: Boolean = false
  override lazy val deterministic: Boolean = false

  override def eval(row: InternalRow): Any = {
    val at = child.eval(row)
    at != null && until.of(at.asInstanceOf[Long]) <= before.eval(row).asInstanceOf[Long]
  }

  override protected def withNewChildInternal(found: Expression): Expression = copy(child = found)
}

/** True for every row, which Spark does not know. */
case class EveryRow() extends LeafExpression with Predicate {
  override def nullable: Boolean = false
  override def foldable: Boolean = false
  override lazy val deterministic: Boolean = false
  override def eval(row: InternalRow): Any = true

  override protected def doGenCode(context: CodegenContext, made: ExprCode): ExprCode =
    made.copy(isNull = FalseLiteral, value = TrueLiteral)
}
