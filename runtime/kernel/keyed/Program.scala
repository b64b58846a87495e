package org.apache.spark.sql.streamc

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.types._

/** The type of a cell. */
private[streamc] trait CellShape {
  def name: String
  def kind: String
  def key: DataType
  def value: DataType

  /** Microseconds after which it expires, 0 if it does not. */
  def ttl: Long

  /** The type of the cell when it is read whole. */
  def whole: DataType = kind match {
    case "value" | "frame" => value
    case "map" => MapType(key, value)
    case _ => ArrayType(key)
  }
}

/**
 * A cell of state; `key` is null for a value and a frame, `value` for a set or a list. Lifetimes in
 * microseconds.
 */
case class CellPlan(
    name: String, kind: String, key: DataType, value: DataType, default: Expression, ttl: Long)
    extends CellShape

case class TimerPlan(name: String, processing: Boolean)

/** An input: its columns, their indices in the common row, and that of its event time, or -1. */
case class InputPlan(alias: String, names: Seq[String], columns: Seq[Int], eventTime: Int)

/** The statements of a handler; slots are indices in the frame, cells are those with entries. */
sealed trait Step extends Serializable
case class Assign(slot: Int, value: Expression) extends Step
case class AssignEntries(cell: Int, value: Expression) extends Step
case class When(branches: Seq[(Expression, Seq[Step])], otherwise: Seq[Step]) extends Step
case class Loop(condition: Expression, body: Seq[Step]) extends Step
case class Each(slot: Int, values: Expression, body: Seq[Step]) extends Step
case class Put(cell: Int, key: Expression, value: Expression) extends Step
case class Remove(cell: Int, key: Expression) extends Step
case class Append(cell: Int, value: Expression) extends Step

/** Adds rows to a frame; drops those before an instant (not null), or all but the `last` ones. */
case class Keep(frame: Int, rows: Expression, since: Expression, last: Long) extends Step
case class ClearEntries(cell: Int) extends Step
case class ClearValue(cell: Int) extends Step
case object ClearState extends Step
case class StartTimer(timer: Int, at: Expression) extends Step
case class StopTimer(timer: Int) extends Step
case class Emit(values: Seq[Expression]) extends Step

/** `name` is as the spec has it: `ON EVENT v`, `ON TIMER due`. */
case class Handler(name: String, steps: Seq[Step])

/**
 * A program, ready to be sent to tasks.
 *
 * Expressions are bound to a joined row: first the columns of the row that is handled, then the
 * frame, which has the keys, the values of state, the instant of the timer that fires, and the
 * locals. A program without keys has one key for all rows. With `wakes`, expired keys are cleaned
 * up whether rows arrive or not: such a query never becomes idle.
 */
case class Program(
    id: String,
    keyed: Boolean,
    keys: StructType,
    row: StructType,
    behind: Int,
    inputs: Seq[InputPlan],
    ordered: Boolean,
    values: Seq[CellPlan],
    entries: Seq[CellPlan],
    frames: Seq[FramePlan],
    timers: Seq[TimerPlan],
    locals: Seq[DataType],
    events: Seq[Handler],
    expiries: Seq[Handler],
    output: StructType,
    readsClock: Boolean,
    readsBefore: Boolean,
    byChance: Boolean,
    wakes: Boolean) {

  /** The keys, with fields of structs named as in state. */
  val stateKeys: StructType = StateName.within(keys).asInstanceOf[StructType]

  /** Indices in the frame. */
  val firstValue: Int = keys.length
  val instant: Int = firstValue + values.length
  val firstLocal: Int = instant + 1
  val frame: Int = firstLocal + locals.length

  private val forgets = (values ++ entries).exists(_.ttl > 0)

  val timed: Boolean = ordered || timers.nonEmpty || forgets || readsClock

  /** Whether Spark's own timers are of processing time, as no event time moves a watermark. */
  val byClock: Boolean = wakes && inputs.forall(_.eventTime < 0) && forgets

  /** The clock of Spark's timers. */
  def timeMode: TimeMode =
    if (!timed) TimeMode.None()
    else if (byClock) TimeMode.ProcessingTime()
    else TimeMode.EventTime()
}

/** A program as Python sends it: the same, with expressions as text. */
private[streamc] class ProgramText(document: String) {
  private val root = JsonMethods.parse(document)

  def id: String = text(root \ "id")

  /** Each input with its frame. */
  def sides(frames: java.util.List[DataFrame]): Seq[(InputText, DataFrame)] =
    inputs.zip(frames.toArray(Array.empty[DataFrame]))

  def ordered: Boolean = root \ "ordered" == JBool.True

  /** The id of the row counts that a class in Python keeps; -1 for other programs. */
  def counts: Long = root \ "counts" match { case JInt(n) => n.toLong; case _ => -1L }

  def wakes: Boolean = root \ "wakes" != JBool.False
  def eventTime: Option[String] = option(root \ "event_time")
  lazy val keys: Seq[(String, DataType)] = fields(root \ "keys")
  lazy val returns: Seq[(String, DataType)] = fields(root \ "returns")

  lazy val inputs: Seq[InputText] = list(root \ "inputs").map { one =>
    InputText(
      text(one \ "alias"),
      list(one \ "keys").map(text),
      option(one \ "event_time"),
      option(one \ "until"),
      list(one \ "columns").map(text))
  }

  lazy val cells: Seq[CellText] = list(root \ "state").map { one =>
    CellText(
      text(one \ "name"),
      text(one \ "kind"),
      option(one \ "key").map(DataType.fromDDL).orNull,
      option(one \ "value").map(DataType.fromDDL).orNull,
      option(one \ "default"),
      one \ "ttl_micros" match { case JInt(n) => n.toLong; case _ => 0L })
  }

  lazy val timers: Seq[TimerPlan] = list(root \ "timers").map { one =>
    TimerPlan(text(one \ "name"), one \ "processing" == JBool.True)
  }

  /** The handlers: of an input by its alias, or of a timer. */
  lazy val handlers: Seq[HandlerText] = list(root \ "handlers").map { one =>
    HandlerText(text(one \ "on"), text(one \ "name"), list(one \ "steps"))
  }

  private def fields(found: JValue): Seq[(String, DataType)] =
    list(found).map(one => text(one \ "name") -> DataType.fromDDL(text(one \ "type")))

  private def list(found: JValue): List[JValue] = found match {
    case JArray(all) => all
    case _ => Nil
  }

  private def option(found: JValue): Option[String] = found match {
    case JString(held) => Some(held)
    case _ => None
  }

  private def text(found: JValue): String = option(found)
    .getOrElse(throw new IllegalArgumentException(s"a program has $found where text is expected"))
}

private[streamc] case class InputText(
    alias: String,
    keys: Seq[String],
    eventTime: Option[String],
    until: Option[String],
    columns: Seq[String]) {

  /** Whether rows of the input have an instant. */
  def timed: Boolean = eventTime.isDefined || until.isDefined
}
private[streamc] case class CellText(
    name: String, kind: String, key: DataType, value: DataType, default: Option[String], ttl: Long)
    extends CellShape
private[streamc] case class HandlerText(on: String, name: String, steps: Seq[JValue])
