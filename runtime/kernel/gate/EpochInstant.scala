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
 * The time, as the queries of a job are told it: when the epoch was opened.
 *
 * Spark tells the time at which a batch of a query was planned, so that a row which two queries read
 * would have two times. That of an epoch is in its log: it is the same in every query, and when a
 * query comes to the epoch again. It is a value that does not change within a batch.
 */
case class EpochInstant() extends LeafExpression with CodegenFallback {
  override def dataType: DataType = TimestampType
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  @transient private lazy val found: Long = EpochInstant.here.getOrElse(
    throw new IllegalStateException("the time is asked for where no epoch is computed"))

  override def eval(row: InternalRow): Any = found
}

private[streamc] object EpochInstant {
  private val Key = "streamc.epoch.instant"

  /** The plan with the time of the epoch in place of the clock's. */
  def in(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case _: CurrentTimestamp | _: Now => EpochInstant()
    case LocalTimestamp(zone) => Cast(EpochInstant(), TimestampNTZType, zone)
    case CurrentDate(zone) => Cast(EpochInstant(), DateType, zone)
  }

  /** Notes the time in the thread of a query, when a batch is planned. */
  def note(session: SparkSession, at: Instant): Unit = {
    val context = session.sparkContext
    val micros = DateTimeUtils.instantToMicros(at).toString
    context.setLocalProperty(Key, micros)
    Option(context.getLocalProperty(StreamExecution.QUERY_ID_KEY)).foreach(newest.put(_, micros))
  }

  /** Of each query what was noted last. */
  private val newest = new ConcurrentHashMap[String, String]

  /** Notes in this thread what a query was told last. */
  def again(session: SparkSession, query: String): Unit =
    session.sparkContext.setLocalProperty(Key, newest.get(query))

  /** In microseconds, in a task or in the thread of a query; nothing outside of epochs. */
  def here: Option[Long] = {
    val noted = Option(TaskContext.get()).map(_.getLocalProperty(Key))
      .getOrElse(SparkContext.getActive.map(_.getLocalProperty(Key)).orNull)
    Option(noted).map(_.toLong)
  }
}
