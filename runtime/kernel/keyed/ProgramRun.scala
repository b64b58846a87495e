package org.apache.spark.sql.streamc

import java.util.concurrent.ThreadLocalRandom

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._

/** The handlers of a program as they run in one task, over one row and one frame at a time. */
private[streamc] class ProgramRun(
    program: Program, record: KeyRecord, place: Place, emitted: mutable.ArrayDeque[InternalRow]) {
  val frame = new GenericInternalRow(program.frame)

  private val joined = new JoinedRow
  private val noRow = new GenericInternalRow(program.row.length + program.behind)

  /** Each task draws its own random values: the program's seeds are the same in all batches. */
  private val shift = ThreadLocalRandom.current().nextLong()
  private val partition = TaskContext.getPartitionId()
  private val events = program.events.map(h => block(h.steps))
  private val expiries = program.expiries.map(h => block(h.steps))

  def event(input: Int, row: InternalRow): Unit = {
    joined(row, frame)
    events(input).run()
  }

  def expiry(timer: Int, instant: Long): Unit = {
    frame.update(program.instant, instant)
    joined(noRow, frame)
    expiries(timer).run()
    frame.update(program.instant, null)
  }

  private abstract class Action {
    def run(): Unit
  }

  private class Block(actions: Array[Action]) extends Action {
    override def run(): Unit = {
      var i = 0
      while (i < actions.length) {
        actions(i).run()
        i += 1
      }
    }
  }

  /** An expression as generated code; its values are safe to store in the frame. */
  private class Value(expression: Expression) {
    private val held = Getter(expression.dataType)
    private val projection = SafeProjection.create(Seq(Chance.shifted(expression, shift)))
    projection.initialize(partition)

    def apply(): Any = held(projection(joined), 0)
  }

  private class Condition(expression: Expression) {
    private val predicate = Predicate.create(Chance.shifted(expression, shift))
    predicate.initialize(partition)

    def apply(): Boolean = predicate.eval(joined)
  }

  private def block(steps: Seq[Step]): Action = steps match {
    case Seq(one) => action(one)
    case several => new Block(several.map(action).toArray)
  }

  private def action(step: Step): Action = step match {
    case Assign(slot, expression) =>
      val value = new Value(expression)
      val cell = slot - program.firstValue
      if (cell >= 0 && cell < program.values.length) () => record.assign(frame, cell, value())
      else () => frame.update(slot, value())
    case AssignEntries(cell, expression) =>
      val value = new Value(expression)
      () => { val found = value(); place.entries(cell).replace(found); record.touch(cell) }
    case When(branches, otherwise) => when(branches, otherwise)
    case Loop(condition, body) => loop(new Condition(condition), block(body))
    case Each(slot, values, body) => each(slot, values, block(body))
    case Put(cell, key, value) =>
      val (k, v) = (new Value(key), new Value(value))
      () => { val found = k(); place.entries(cell).put(found, v()); record.touch(cell) }
    case Remove(cell, key) =>
      val k = new Value(key)
      () => place.entries(cell).remove(k())
    case Append(cell, value) =>
      val v = new Value(value)
      () => { place.entries(cell).append(v()); record.touch(cell) }
    case Keep(frame, rows, since, last) =>
      val (added, first) = (new Value(rows), Option(since).map(new Value(_)))
      () => {
        val found = added().asInstanceOf[ArrayData]
        place.frames(frame).keep(found, first.map(_()).orNull, last)
      }
    case ClearEntries(cell) => () => place.entries(cell).clear()
    case ClearValue(value) => program.frames.indexWhere(_.value == value) match {
      case -1 => () => record.clear(frame, value)
      case at => () => place.frames(at).clear()
    }
    case ClearState => () => {
      program.values.indices.foreach(record.clear(frame, _))
      place.entries.foreach(_.clear())
      place.frames.foreach(_.clear())
    }
    case StartTimer(timer, at) =>
      val value = new Value(at)
      () => start(timer, value() match {
        // The first instant of all means that a timer is not set.
        case KeyRecord.Unset => KeyRecord.Unset + 1
        case at => at
      })
    case StopTimer(timer) => () => start(timer, KeyRecord.Unset)
    case Emit(values) =>
      val projection = UnsafeProjection.create(values.map(Chance.shifted(_, shift)))
      projection.initialize(partition)
      () => emitted += projection(joined).copy()
  }

  private def start(timer: Int, at: Any): Unit = {
    if (at == null) {
      throw new ProgramMistake(s"START TIMER ${program.timers(timer).name} AT NULL")
    }
    record.timers(timer) = at.asInstanceOf[Long]
    record.change()
  }

  private def when(branches: Seq[(Expression, Seq[Step])], otherwise: Seq[Step]): Action = {
    val conditions = branches.map(b => new Condition(b._1)).toArray
    val bodies = branches.map(b => block(b._2)).toArray
    val last = block(otherwise)
    new Action {
      override def run(): Unit = {
        var i = 0
        while (i < conditions.length && !conditions(i)()) i += 1
        if (i < bodies.length) bodies(i).run() else last.run()
      }
    }
  }

  private def loop(condition: Condition, body: Action): Action = new Action {
    override def run(): Unit = {
      var turns = 0
      while (condition()) {
        if (turns == ProgramRun.Turns) {
          throw new ProgramMistake(s"a WHILE has run ${ProgramRun.Turns} iterations")
        }
        body.run()
        turns += 1
      }
    }
  }

  private def each(slot: Int, values: Expression, body: Action): Action = {
    val value = new Value(values)
    val element = Getter(values.dataType.asInstanceOf[ArrayType].elementType)
    new Action {
      override def run(): Unit = value() match {
        case null =>
        case array: ArrayData =>
          for (i <- 0 until array.numElements()) {
            frame.update(slot, element(array, i))
            body.run()
          }
      }
    }
  }
}

private[streamc] object ProgramRun {
  val Turns = 10000
}
