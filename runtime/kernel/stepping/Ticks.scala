package org.apache.spark.sql.streamc

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.UserProvided
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation
import org.apache.spark.sql.types._

/**
 * Watermarks that move without rows.
 *
 * Spark takes a watermark from the event times that pass its node. A tick is a row that passes this
 * node only: it joins the source's rows just below and is dropped just above. Neither the operators
 * above nor their state see it.
 */
object Ticks {
  /** A tick gives the instant to which the watermark has to move, in microseconds. */
  val schema: StructType = new StructType().add("micros", LongType)

  /**
   * The plan with ticks below each watermark. `source` returns the ticks that belong to a read, or
   * None to leave its watermark alone; they are named after the read, `payments__ticks`.
   */
  def add(plan: LogicalPlan)(source: StreamingRelation => Option[DataSource]): LogicalPlan =
    plan.transformUp { case mark: EventTimeWatermark =>
      val ticks = for {
        read <- mark.child.collectFirst { case r: StreamingRelation => r }
        data <- source(read)
      } yield relation(read, data)
      ticks.fold[LogicalPlan](mark)(beneath(mark, _))
    }

  private def relation(read: StreamingRelation, data: DataSource): StreamingRelation = {
    val name = read.sourceIdentifyingName match {
      case UserProvided(name) => UserProvided(s"${name}__ticks")
      case unnamed => unnamed
    }
    val own = name match {
      case given: UserProvided => data.copy(userSpecifiedStreamingSourceName = Some(given))
      case _ => data
    }
    StreamingRelation(own, StepSource.Name, toAttributes(schema), name)
  }

  private def toAttributes(schema: StructType): Seq[AttributeReference] =
    schema.map(f => AttributeReference(f.name, f.dataType, f.nullable, f.metadata)())

  private def beneath(mark: EventTimeWatermark, ticks: StreamingRelation): LogicalPlan = {
    val rows = mark.child
    val flag = Alias(Literal.FalseLiteral, Flag)()
    val both = Union(Seq(
      Project(rows.output :+ flag, rows),
      Project(
        rows.output.map(a => Alias(value(a, mark, ticks.output.head), a.name)()) :+
          Alias(Literal.TrueLiteral, Flag)(),
        ticks)))
    val isTick = both.output.last
    // Spark moves a deterministic filter below the watermark, where it would remove the ticks.
    val keep = Or(Not(isTick), LessThan(SparkPartitionID(), Literal(0)))
    Project(mark.output, Filter(keep, mark.copy(child = both)))
  }

  /** The value of a tick in a column: the instant plus the delay in the event time, else NULL. */
  private def value(column: Attribute, mark: EventTimeWatermark, micros: Attribute): Expression =
    if (column.exprId == mark.eventTime.exprId) {
      val delay = EventTimeWatermark.getDelayMs(mark.delay) * 1000L
      val at = Least(Seq(micros, Literal(Long.MaxValue - delay)))
      Cast(MicrosToTimestamp(Add(at, Literal(delay))), column.dataType, Some("UTC"))
    } else if (column.nullable) {
      Literal(null, column.dataType)
    } else {
      Literal.default(column.dataType)
    }

  private val Flag = "__tick"
}
