package org.apache.spark.sql.streamc

import java.time.Instant
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.types._

/**
 * The current time as the queries of a job see it: when the epoch was opened.
 *
 * Spark's current time is when a batch of a query was planned, so a row read by two queries would
 * have two times. An epoch's time is in its log: it is the same in every query, and when a query
 * repeats the epoch. It is constant within a batch.
 */
case class EpochInstant() extends LeafExpression with CodegenFallback {
  override def dataType: DataType = TimestampType
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  @transient private lazy val found: Long = EpochInstant.here.getOrElse(
    throw new IllegalStateException("the time was read outside an epoch"))

  override def eval(row: InternalRow): Any = found
}

private[streamc] object EpochInstant {
  private val Key = "streamc.epoch.instant"

  /** The plan with the epoch's time in place of the clock's. */
  def in(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case _: CurrentTimestamp | _: Now => EpochInstant()
    case LocalTimestamp(zone) => Cast(EpochInstant(), TimestampNTZType, zone)
    case CurrentDate(zone) => Cast(EpochInstant(), DateType, zone)
  }

  /** Records the time in a query's thread, when a batch is planned. */
  def note(session: SparkSession, at: Instant): Unit = {
    val context = session.sparkContext
    val micros = DateTimeUtils.instantToMicros(at).toString
    context.setLocalProperty(Key, micros)
    Option(context.getLocalProperty(StreamExecution.QUERY_ID_KEY)).foreach(newest.put(_, micros))
  }

  /** By query, the time recorded last. */
  private val newest = new ConcurrentHashMap[String, String]

  /** Restores in this thread the time that a query had last. */
  def restore(session: SparkSession, query: String): Unit =
    session.sparkContext.setLocalProperty(Key, newest.get(query))

  /** In microseconds, in a task or in a query's thread; None outside epochs. */
  def here: Option[Long] = {
    val noted = Option(TaskContext.get()).map(_.getLocalProperty(Key))
      .getOrElse(SparkContext.getActive.map(_.getLocalProperty(Key)).orNull)
    Option(noted).map(_.toLong)
  }
}
