package org.apache.spark.sql.streamc

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.types._

/**
 * Runs a program inside Spark's `transformWithState`.
 *
 * Rows and timers of a key are handled one by one. In an ordered program, rows wait until the
 * watermark has passed them; then rows and timers are handled by instant, rows before timers of the
 * same instant, equal rows in the order of their values. In other programs, the rows of a key in an
 * epoch are handled by event time and value, and after them the timers that the watermark has
 * passed. Timers of processing time fire when the epoch's clock has passed them.
 *
 * Spark's own timer is a bare instant of one clock. A key has at most one: for the first of its
 * timers and of its waiting rows. Where Spark's clock is the watermark, a key that waits for
 * processing time is woken in every epoch, by a timer whose instant every watermark has passed.
 *
 * `counts` are the rows that have arrived, those that were handled, and those that were emitted.
 */
class KeyedProcess(val program: Program, place: Place, val counts: BatchCounts)
    extends StatefulProcessor[InternalRow, InternalRow, InternalRow] {
  import KeyRecord.Unset
  import KeyedProcess.Never

  @transient private var record: KeyRecord = _
  @transient private var waiting: Waiting = _
  @transient private var run: ProgramRun = _
  @transient private var emitted: mutable.ArrayDeque[InternalRow] = _
  @transient private var order: Ordering[InternalRow] = _

  /** The same program for another query. */
  def copyWith(counts: BatchCounts): KeyedProcess = {
    val serializer = SparkEnv.get.closureSerializer.newInstance()
    val (program, place) = serializer.deserialize[(Program, Place)](
      serializer.serialize((this.program, this.place)), getClass.getClassLoader)
    new KeyedProcess(program, place, counts)
  }

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val handle = getHandle
    if (program.timed && timeMode != TimeMode.None) Alarms.install(handle)
    place.entries = program.entries.map(Entries.of(_, handle, place)).toArray
    place.frames = program.frames.map(new Frame(_, handle)).toArray
    record = new KeyRecord(program, handle, place)
    waiting = if (program.ordered) new Waiting(program, handle) else null
    emitted = mutable.ArrayDeque.empty
    run = new ProgramRun(program, record, place, emitted)
    order = KeyedProcess.order(program)
  }

  @transient private lazy val clocks = program.timers.map(_.processing).toArray
  @transient private lazy val keyed = program.keys.map(field => Getter(field.dataType)).toArray

  /** Lists that a frame of another script may have moved to entries. */
  @transient private lazy val listed = program.values.zipWithIndex.collect {
    case (cell, i) if cell.kind == "value" && KeyedProcess.width(cell) > 0 => i
  }.toArray
  @transient private lazy val widths = listed.map(i => KeyedProcess.width(program.values(i)))

  @transient private var arrived, handled, gone = 0L

  override def close(): Unit = {
    counts.add(Seq(arrived, handled, gone))
    arrived = 0
    handled = 0
    gone = 0
  }

  override def handleInputRows(
      key: InternalRow, rows: Iterator[InternalRow], time: TimerValues): Iterator[InternalRow] = {
    val all = rows.map(_.copy()).toArray
    arrived += all.length
    new Turn(key, all, time, Unset)
  }

  @transient private lazy val initial = new InitialState(program).at(record, waiting, place.entries)

  /** Writes a piece of the state that the key of the handle begins with. */
  def begin(row: InternalRow): Unit = initial.put(row)

  override def handleExpiredTimer(
      key: InternalRow, time: TimerValues, expired: ExpiredTimerInfo): Iterator[InternalRow] =
    new Turn(key, Array.empty, time, expired.getExpiryTimeInMs())

  /** The turn of a key in an epoch: the rows it emits, computed as they are requested. */
  private class Turn(key: InternalRow, brought: Array[InternalRow], time: TimerValues, woken: Long)
      extends Iterator[InternalRow] {
    private var begun = false
    private var over = false
    private var rows: Array[InternalRow] = _
    private var at = 0
    private var front: Waiting#Front = _
    private var passed = Unset
    private var clock = 0L
    private var idle = 0

    /** Whether the watermark has passed all that programs see; the timers that it never fires. */
    private var drained = false
    private var never: Set[Int] = Set.empty

    override def hasNext: Boolean = {
      if (!begun) begin()
      while (emitted.isEmpty && !over) advance()
      emitted.nonEmpty
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException
      gone += 1
      emitted.removeHead()
    }

    private def begin(): Unit = {
      begun = true
      val at = time.getCurrentWatermarkInMs()
      val known = program.timed && !program.byClock && Watermarks.isKnown(at)
      passed = if (known) Watermarks.micros(at) else Unset
      drained = known && at >= Watermarks.Far
      place.watermark = if (known) math.min(at, Watermarks.Far) * 1000 else null
      place.now = time.getCurrentProcessingTimeInMs() * 1000
      place.epochTime = EpochInstant.here.getOrElse(place.now)
      clock = if (program.byClock) place.now / 1000 else if (known) at else Watermarks.First
      record.load(run.frame, clock)
      openFrames()
      var i = 0
      while (i < keyed.length) {
        run.frame.update(i, keyed(i)(key, i))
        i += 1
      }
      if (woken != Unset && woken == record.armed) {
        // Spark removes a timer that has fired.
        record.armed = Unset
        record.change()
      }
      if (program.ordered) {
        for (row <- brought) {
          waiting.add(row.getLong(0), record.number, row)
          record.number += 1
        }
        if (brought.nonEmpty) record.change()
        front = waiting.open()
        rows = Array.empty
      } else rows = inOrder(brought)
    }

    /** Handles one row or one timer; ends the turn if there is nothing to do. */
    private def advance(): Unit = {
      if (at < rows.length) {
        val row = rows(at)
        at += 1
        event(row)
      } else {
        val timer = first(processing = false, passed)
        val due = front != null && front.at != Unset && front.at <= passed
        if (due && (timer < 0 || front.at <= record.timers(timer))) {
          rows = inOrder(front.take())
          at = 0
          idle = 0
        } else if (timer >= 0) expire(timer)
        else {
          val clocked = first(processing = true, place.now)
          if (clocked >= 0) expire(clocked) else finish()
        }
      }
    }

    /** The first timer of a clock that is due, -1 if there is none. */
    private def first(processing: Boolean, until: Long): Int = {
      var (found, i) = (-1, 0)
      while (i < clocks.length) {
        val at = record.timers(i)
        val due = clocks(i) == processing && at != Unset && at <= until && !never(i)
        if (due && (found < 0 || at < record.timers(found))) found = i
        i += 1
      }
      found
    }

    private def event(row: InternalRow): Unit = {
      val input = KeyedProcess.input(program, row)
      handled += 1
      try run.event(input, row)
      catch { case NonFatal(e) => throw failure(program.events(input).name, row, e) }
    }

    private def expire(timer: Int): Unit = {
      val at = record.timers(timer)
      record.timers(timer) = Unset
      val others = if (drained) record.timers.clone else null
      record.change()
      idle += 1
      try {
        if (idle > ProgramRun.Turns) {
          throw new ProgramMistake(
            s"${program.timers(timer).name} has fired ${ProgramRun.Turns} times at once")
        }
        run.expiry(timer, at)
      } catch { case NonFatal(e) => throw failure(program.expiries(timer).name, null, e) }
      // A timer that restarts itself would always be due.
      if (drained) {
        never ++= others.indices.filter(i =>
          record.timers(i) != others(i) && record.timers(i) > Watermarks.Far * 1000)
      }
    }

    private def finish(): Unit = {
      over = true
      if (record.sweep != Unset && record.sweep <= clock) sweep()
      if (program.timed) arm()
      if (front != null) front.close()
      closeFrames()
      record.save(run.frame)
    }

    private def openFrames(): Unit = {
      var i = 0
      while (i < listed.length) {
        run.frame.values(program.firstValue + listed(i)) match {
          case rows: ArrayData if Frame.isElsewhere(rows, widths(i)) => throw failure(
            "its state", null, new ProgramMistake(s"${program.values(listed(i)).name} is stored " +
              "row by row, which this script does not read: take a savepoint with the script that " +
              "wrote it, or compile the spec again"))
          case _ =>
        }
        i += 1
      }
      i = 0
      while (i < place.frames.length) {
        place.frames(i).open(run.frame.values(slot(i)))
        i += 1
      }
    }

    private def closeFrames(): Unit = {
      var i = 0
      while (i < place.frames.length) {
        val after = place.frames(i).close()
        val isSame = run.frame.values(slot(i)) match {
          case rows: ArrayData =>
            after != null && Frame.isElsewhere(rows, program.frames(i).row.length)
          case before => before == after
        }
        if (!isSame) {
          run.frame.update(slot(i), after)
          record.change()
        }
        i += 1
      }
    }

    private def slot(frame: Int): Int = program.firstValue + program.frames(frame).value

    private def sweep(): Unit = {
      record.sweep = Unset
      record.change()
      for (i <- program.entries.indices if program.entries(i).ttl > 0) {
        if (place.entries(i).sweep() && record.sweep == Unset) {
          record.sweepAfter(program.entries(i).ttl)
        }
      }
      record.sweepValues(run.frame)
    }

    /**
     * Has Spark wake the key for whatever comes first. A key that is woken too early goes back to
     * sleep: that costs less than replacing Spark's timer each time that one of ours is moved.
     */
    private def arm(): Unit = {
      val clocked = first(processing = true, Never) >= 0
      val wanted =
        if (clocked && !program.byClock) KeyedProcess.polled.find(_ != woken).get
        else {
          val at = math.min(KeyedProcess.wake(earliest(program.byClock)), or(record.sweep))
          if (at == Never) Unset else math.max(math.min(at, Watermarks.Last), clock + 1)
        }
      val early = record.armed != Unset && record.armed <= wanted && record.armed > clock
      if (wanted != record.armed && !early) {
        if (record.armed != Unset) getHandle.deleteTimer(record.armed)
        if (wanted != Unset) getHandle.registerTimer(wanted)
        record.armed = wanted
        record.change()
      }
    }

    /** The first instant of a clock at which there is work, in microseconds. */
    private def earliest(processing: Boolean): Long = {
      val timer = first(processing, Never)
      val at = if (timer < 0) Never else or(record.timers(timer))
      if (processing || front == null) at else math.min(at, or(front.at))
    }

    private def or(at: Long): Long = if (at == Unset) Never else math.min(at, Never - 1)

    private def inOrder(rows: Array[InternalRow]): Array[InternalRow] =
      if (rows.length < 2) rows else rows.sorted(order)

    private def failure(handler: String, row: InternalRow, cause: Throwable): Throwable = {
      val where = s"operator `${program.id}`, $handler"
      val keys = shown(key, program.keys, program.keys.names, program.keys.indices)
      val what = if (row == null) "" else {
        val input = program.inputs(KeyedProcess.input(program, row))
        s", row ${shown(row, program.row, input.names, input.columns)}"
      }
      new ProgramFailure(s"$where, key $keys$what", cause)
    }
  }

  private def shown(
      row: InternalRow, schema: StructType, names: Seq[String], at: Seq[Int]): String =
    names.zip(at).map { case (name, i) =>
      val kind = schema(i).dataType
      val held = if (row.isNullAt(i)) null else row.get(i, kind)
      s"$name = ${CatalystTypeConverters.convertToScala(held, kind)}"
    }.mkString("(", ", ", ")")
}

/** The statement at which a program failed, and the row that it was handling. */
class ProgramFailure(place: String, cause: Throwable) extends RuntimeException(place, cause)

/** Something that a program must not do. */
class ProgramMistake(message: String) extends RuntimeException(message)

private[streamc] object KeyedProcess {
  /** A processor of Spark's, if it runs a program. */
  def unapply(processor: StatefulProcessor[_, _, _]): Option[KeyedProcess] = processor match {
    case process: KeyedProcess => Some(process)
    case _ => None
  }

  /** The columns of the rows in a cell with the name and type of a frame of OVER; 0 for others. */
  private def width(cell: CellPlan): Int = cell.value match {
    case ArrayType(row: StructType, _)
        if cell.name.endsWith("__rows") && row.head.dataType == TimestampType => row.length
    case _ => 0
  }

  /** After every instant. */
  val Never: Long = Long.MaxValue

  /** The first millisecond that is not before an instant in microseconds. */
  def wake(micros: Long): Long = if (micros == Never) Never else -Math.floorDiv(-micros, 1000L)

  /** Spark removes the timer that has fired: the next one must have another instant. */
  val polled: Seq[Long] = Seq(Watermarks.First - 1, Watermarks.First - 2)

  /** The input that a row is of: the common row of several inputs has a column for it. */
  def input(program: Program, row: InternalRow): Int =
    if (program.inputs.length == 1) 0 else row.getInt(program.inputs.head.eventTime + 1)

  /** By event time, by input, and by all values: independent of the order of arrival. */
  def order(program: Program): Ordering[InternalRow] = {
    val orders = program.row.zipWithIndex.map { case (field, i) =>
      SortOrder(ordered(BoundReference(i, field.dataType, nullable = true)), Ascending)
    }.filter(o => RowOrdering.isOrderable(o.child.dataType))
    RowOrdering.create(orders, Nil)
  }

  private def ordered(column: Expression): Expression = column.dataType match {
    case map: MapType if RowOrdering.isOrderable(map.keyType) => MapEntries(MapSort(column))
    case _ => column
  }
}
