package org.apache.spark.sql.streamc

import java.lang.reflect.Field
import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.execution.streaming.runtime._
import org.apache.spark.sql.types.DayTimeIntervalType
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * Watermarks from the first instant of a TIMESTAMP to the last.
 *
 * Spark's own start at the instant zero and are never before it: rows before 1970 would be late
 * while there is no watermark yet, and afterwards. So a query gets a tracker and a propagator of
 * ours before its first batch is planned. In logs zero still means that there is no watermark;
 * operators then get the first instant of all, for which no row is late.
 */
private[streamc] object Watermarks {
  /** No watermark yet, as in Spark's logs. */
  val Unknown: Long = 0L

  /** The first and the last instant, in milliseconds. */
  val First: Long = Long.MinValue / 1000
  val Last: Long = Long.MaxValue / 1000

  /**
   * The year 9999, in milliseconds: what programs see of a watermark that has passed all rows.
   * Arithmetic on it does not overflow.
   */
  val Far: Long = 253370764800000L

  /**
   * How far the watermark of a join stays from either end: its bounds are added in floating point,
   * which is exact to a millisecond there.
   */
  private def margin(condition: Option[Expression]): Long = {
    val bounds = condition.toSeq.flatMap(_.collect {
      case Literal(micros: Long, _: DayTimeIntervalType) => math.abs(micros / 1000)
      case Literal(span: CalendarInterval, _) =>
        math.abs(span.microseconds / 1000) + math.abs(span.days) * 86400000L
    })
    math.min(bounds.sum + 10000, Longest)
  }

  private val Longest = 10000L * 366 * 86400 * 1000

  /** Whether there is a watermark, and for a program one that it uses. */
  def isKnown(millis: Long): Boolean = millis != Unknown && millis > First

  /** In microseconds, for comparison with instants. */
  def micros(millis: Long): Long =
    if (!isKnown(millis)) Long.MinValue
    else if (millis >= Last) Long.MaxValue
    else millis * 1000

  /** Makes the query of the current thread use these watermarks. */
  def install(session: SparkSession): Unit = running(session).foreach { query =>
    if (!tracker(query).isInstanceOf[AnyTime]) {
      val own = new AnyTime(query.logicalPlan, logged(query))
      query.getClass.getMethod("watermarkTracker_$eq", classOf[WatermarkTracker]).invoke(query, own)
      val propagator = query.getClass.getDeclaredField("watermarkPropagator")
      propagator.setAccessible(true)
      propagator.set(query, new Propagated)
    }
  }

  /** Moves the watermark past every row; called in the query's own thread. */
  def end(session: SparkSession): Unit = {
    install(session)
    running(session).foreach(tracker(_).setWatermark(Last))
  }

  private def running(session: SparkSession): Option[MicroBatchExecution] =
    Option(session.sparkContext.getLocalProperty(StreamExecution.QUERY_ID_KEY))
      .flatMap(id => Option(session.sharedState.activeStreamingQueries.get(UUID.fromString(id))))
      .collect { case query: MicroBatchExecution => query }

  /** Spark's tracker is private; the next batch is planned with its value. */
  private def tracker(query: MicroBatchExecution): WatermarkTracker =
    query.getClass.getMethod("watermarkTracker").invoke(query).asInstanceOf[WatermarkTracker]

  /** The watermark by the logs of a query; Spark would take zero for later than 1969. */
  private def logged(query: MicroBatchExecution): Long = query.offsetLog.getLatestBatchId() match {
    case None => Unknown
    case Some(batch) =>
      val planned = query.offsetLog.offsetSeqMetadataForBatchId(batch).fold(Unknown)(_.batchWatermarkMs)
      val behind = query.commitLog.get(batch).fold(Unknown)(_.nextBatchWatermarkMs)
      if (planned == Unknown) behind
      else if (behind == Unknown) planned
      else math.max(planned, behind)
  }

  /** The watermark of a query: the least of those of its sources, once all have one. */
  private class AnyTime(plan: LogicalPlan, begun: Long) extends WatermarkTracker(MinWatermark, plan) {
    private val delays = plan.collect { case mark: EventTimeWatermark =>
      mark.nodeId -> EventTimeWatermark.getDelayMs(mark.delay)
    }.toMap
    private var current = begun

    override def setWatermark(millis: Long): Unit = synchronized { current = millis }

    override def currentWatermark: Long = synchronized(current)

    override def updateWatermark(executed: SparkPlan): Unit = synchronized {
      super.updateWatermark(executed)
      val found = watermarkMap.toSeq.map { case (source, at) => at.map(behind(source, _)) }
      if (found.nonEmpty && found.forall(_.isDefined)) {
        val least = found.flatten.min
        if (current == Unknown || least > current) current = least
      }
    }

    /**
     * The watermark by the greatest instant of a source: that instant passes all others, and the
     * delay does not lead before the first. Zero is reserved.
     */
    private def behind(source: UUID, millis: Long): Long =
      if (millis >= Last - delays.getOrElse(source, 0L)) Last
      else if (millis == Unknown) Unknown - 1
      else math.max(millis, First)
  }

  /** The watermark of each operator: Spark's own, except before 1970. */
  private class Propagated extends PropagateWatermarkSimulator {
    private val found: mutable.Map[Long, Map[Long, Option[Long]]] = Propagated.inputs.get(this)
      .asInstanceOf[mutable.Map[Long, Map[Long, Option[Long]]]]
    private val joins = mutable.Map.empty[Long, Long]

    override def propagate(batch: Long, plan: SparkPlan, watermark: Long): Unit = {
      super.propagate(batch, plan, watermark)
      plan.foreach {
        case join: StreamingSymmetricHashJoinExec => join.stateInfo.foreach { state =>
          joins(state.operatorId) = margin(join.condition.full)
        }
        case _ =>
      }
    }

    override def getInputWatermarkForLateEvents(batch: Long, operator: Long): Long =
      given(batch - 1, operator)

    override def getInputWatermarkForEviction(batch: Long, operator: Long): Long = {
      val known = given(batch, operator)
      joins.get(operator).fold(known) { margin =>
        math.min(math.max(known, First + margin), Last - margin)
      }
    }

    private def given(batch: Long, operator: Long): Long = {
      val at =
        if (batch < 0) None
        else found.getOrElse(batch, throw new IllegalStateException(
          s"the watermark of batch $batch is not known")).get(operator).flatten
      at.getOrElse(First)
    }
  }

  private object Propagated {
    val inputs: Field = {
      val found = classOf[PropagateWatermarkSimulator].getDeclaredField("inputWatermarks")
      found.setAccessible(true)
      found
    }
  }
}
