package org.apache.spark.sql.streamc

import java.time.ZoneId

import scala.util.Try

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.types.{CalendarIntervalType, TimestampType}

/**
 * The ends of time: no row in the first or the last hours of TIMESTAMP's range ends a query.
 *
 * A row has windows if all that it would have lie within time; otherwise it belongs to none, like a
 * row without an instant. Bounds and timers that would lie outside are at the end of time.
 */
object Ends {
  /** The last instant that a watermark reaches: a window that ends later would never come out. */
  private val Last = Watermarks.Last * 1000

  /** The frame of a query, with windows and joins that work at the ends of time. */
  def within(frame: DataFrame): DataFrame = {
    val dataset = frame.asInstanceOf[Dataset[Row]]
    val plan = dataset.queryExecution.analyzed
    val held = plan.transform {
      case p @ Project(columns, child) =>
        val windows = columns.collect { case Alias(made: CreateNamedStruct, _) => made }
        p.copy(child = filtered(child, windows.filter(isWindow)))
      case e @ Expand(projections, _, child) =>
        e.copy(child = filtered(child, projections.flatMap(_.collect {
          case made: CreateNamedStruct if isWindow(made) => made
        })))
      case join: Join if join.isStreaming => join.copy(condition = join.condition.map(bounds))
    }
    if (held.fastEquals(plan)) frame
    else Dataset.ofRows(dataset.sparkSession, held).asInstanceOf[Dataset[Row]]
  }

  /** An expression that compares only with instants within time, however wide its bounds. */
  def bounds(found: Expression): Expression = found.transform {
    case compared: BinaryComparison => compared.withNewChildren(compared.children.map(instant))
  }

  /** An instant, or the first or the last one if it would lie outside time. */
  def instant(found: Expression): Expression = found match {
    case _: WithinTime => found
    case add: TimestampAddInterval => new WithinTime(add.start, add.interval, add.timeZoneId)
    case cast: Cast if cast.dataType == TimestampType && cast.child.dataType == TimestampType =>
      cast.copy(child = instant(cast.child))
    case less: DatetimeSub => instant(less.replacement)
    case other => other
  }

  /** Spark's form of `window` and `session_window`: start and end, computed from one instant. */
  private def isWindow(made: CreateNamedStruct): Boolean =
    made.names.map(_.toString) == Seq("start", "end") && made.references.size == 1 &&
      made.references.head.dataType == TimestampType &&
      made.exists(_.isInstanceOf[PreciseTimestampConversion])

  private def filtered(child: LogicalPlan, windows: Seq[CreateNamedStruct]): LogicalPlan =
    windows.headOption.map(_.references.head).fold(child) { at =>
      val found = new Windows(windows.map(BindReferences.bindReference(_, Seq(at)): Expression))
      Filter(InTime(at, found.first, found.last), child)
    }

  /** The windows of an instant: the first and the last one that has all of them. */
  private class Windows(made: Seq[Expression]) {
    def first: Long = farthest(Long.MinValue)
    def last: Long = farthest(Long.MaxValue)

    private def has(at: Long): Boolean = made.forall { window =>
      Try(window.eval(InternalRow(at)).asInstanceOf[InternalRow]).toOption.exists { found =>
        val (start, end) = (found.getLong(0), found.getLong(1))
        start < end && end <= Last && start <= at
      }
    }

    /** A search from 1970, which has windows, to an end of time: the last instant that has them. */
    private def farthest(end: Long): Long = {
      var (held, not) = (0L, end)
      if (has(end)) held = end
      else {
        var middle = end / 2
        while (middle != held) {
          if (has(middle)) held = middle else not = middle
          middle = held + (not - held) / 2
        }
      }
      held
    }
  }
}

/** Whether an instant is between the first and the last one within time. */
case class InTime(child: Expression, first: Long, last: Long) extends UnaryExpression with Predicate {
  override def nullable: Boolean = false
  override def prettyName: String = "intime"

  override def eval(row: InternalRow): Any = {
    val at = child.eval(row)
    at != null && first <= at.asInstanceOf[Long] && at.asInstanceOf[Long] <= last
  }

  override protected def doGenCode(context: CodegenContext, made: ExprCode): ExprCode = {
    val at = child.genCode(context)
    made.copy(
      code = code"""
        ${at.code}
        boolean ${made.value} = !${at.isNull} && ${first}L <= ${at.value} && ${at.value} <= ${last}L;
        """,
      isNull = FalseLiteral)
  }

  override protected def withNewChildInternal(found: Expression): Expression = copy(child = found)
}

/** An instant plus an interval; an end of time if that would lie outside. */
class WithinTime(at: Expression, after: Expression, zone: Option[String])
    extends TimestampAddInterval(at, after, zone) {

  // Spark treats it as the class it extends, wherever it looks for that; but it is not equal to it.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[WithinTime]
  override def equals(other: Any): Boolean = other.isInstanceOf[WithinTime] && super.equals(other)
  override def hashCode: Int = super.hashCode

  override def withTimeZone(other: String): TimeZoneAwareExpression =
    new WithinTime(at, after, Some(other))

  override def nullSafeEval(start: Any, interval: Any): Any =
    try super.nullSafeEval(start, interval)
    catch { case _: ArithmeticException => WithinTime.end(start.asInstanceOf[Long]) }

  override def doGenCode(context: CodegenContext, made: ExprCode): ExprCode = {
    val own = classOf[WithinTime].getName
    val zone = context.addReferenceObj("zone", zoneIdForType(at.dataType), classOf[ZoneId].getName)
    defineCodeGen(context, made, (start, interval) => after.dataType match {
      case CalendarIntervalType =>
        s"$own.add($start, $interval.months, $interval.days, $interval.microseconds, $zone)"
      case _ => s"$own.add($start, $interval, $zone)"
    })
  }

  override protected def withNewChildrenInternal(
      newAt: Expression, newAfter: Expression): TimestampAddInterval =
    new WithinTime(newAt, newAfter, zone)
}

object WithinTime {
  def add(start: Long, micros: Long, zone: ZoneId): Long =
    try DateTimeUtils.timestampAddDayTime(start, micros, zone)
    catch { case _: ArithmeticException => end(start) }

  def add(start: Long, months: Int, days: Int, micros: Long, zone: ZoneId): Long =
    try DateTimeUtils.timestampAddInterval(start, months, days, micros, zone)
    catch { case _: ArithmeticException => end(start) }

  /** The end that an instant is nearer to: no interval leads past the other. */
  def end(start: Long): Long = if (start < 0) Long.MinValue else Long.MaxValue
}
