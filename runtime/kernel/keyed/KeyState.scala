package org.apache.spark.sql.streamc

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util._
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.types._

/** The state variable of a cell whose entries are read and written one by one. */
private[streamc] abstract class Entries {
  def get(key: Any): Any
  def contains(key: Any): Boolean
  def put(key: Any, value: Any): Unit
  def remove(key: Any): Unit
  def append(value: Any): Unit
  def size: Int
  def whole: Any
  def clear(): Unit

  /** Replaces all entries by those of a map or array. */
  def replace(value: Any): Unit

  /** Removes expired entries; returns whether any are left. */
  def sweep(): Boolean

  /** Writes the stored form of one entry: see [[Entries.schema]]. */
  def restore(piece: InternalRow): Unit

  protected def none: Nothing = throw new UnsupportedOperationException
}


private[streamc] object Entries {
  val Written: StructField = StructField("written", LongType)

  def name(cell: CellShape): String = s"cell_${StateName(cell.name)}"

  /** The stored form of an entry: its key, except in a list; its value; when it was written. */
  def schema(cell: CellShape): StructType = StructType(key(cell) ++ value(cell))

  private def key(cell: CellShape): StructType =
    StructType(if (cell.kind == "list") Nil else Seq(StructField("key", StateName.within(cell.key))))

  private def value(cell: CellShape): StructType = {
    val held = cell.kind match {
      case "map" => cell.value
      case "set" => BooleanType
      case _ => cell.key
    }
    StructType(StructField("value", StateName.within(held)) +: (if (cell.ttl > 0) Seq(Written) else Nil))
  }

  def of(cell: CellPlan, handle: StatefulProcessorHandle, place: Place): Entries = {
    val (keys, values) = (RowEncoders.of(key(cell)), RowEncoders.of(value(cell)))
    if (cell.kind == "list") {
      new ListEntries(cell, handle.getListState(name(cell), values, TTLConfig.NONE), place)
    } else {
      val held = value(cell).head.dataType
      new MapEntries(
        cell, held, handle.getMapState(name(cell), keys, values, TTLConfig.NONE), place)
    }
  }
}

/** A map, or a set, which is a map with empty values. */
private class MapEntries(
    cell: CellPlan, held: DataType, state: MapState[InternalRow, InternalRow], place: Place)
    extends Entries {
  private val lasting = cell.ttl > 0
  private val key = new GenericInternalRow(1)
  private val value = new GenericInternalRow(if (lasting) 2 else 1)
  private lazy val ordering = TypeUtils.getInterpretedOrdering(cell.key)
  private val (keyOf, heldOf) = (Getter(cell.key), Getter(held))
  private val plain = PlainKeys.of(cell.key)
  private lazy val valueOf = Getter(cell.value)

  private def find(wanted: Any): InternalRow = {
    key.update(0, plain(wanted))
    val found = state.getValue(key)
    if (found == null || forgotten(found)) null else found
  }

  private def forgotten(found: InternalRow): Boolean =
    lasting && found.getLong(1) + cell.ttl <= place.now

  override def get(wanted: Any): Any = {
    val found = find(wanted)
    if (found == null) null else heldOf(found, 0)
  }

  override def contains(wanted: Any): Boolean = find(wanted) != null

  override def put(wanted: Any, to: Any): Unit = {
    if (wanted == null) throw new ProgramMistake(s"NULL as a key of ${cell.name}")
    key.update(0, plain(wanted))
    value.update(0, to)
    if (lasting) value.update(1, place.now)
    state.updateValue(key, value)
  }

  override def remove(wanted: Any): Unit = if (wanted != null) {
    key.update(0, plain(wanted))
    if (state.getValue(key) != null) state.removeKey(key)
  }

  /** Spark's iterators reuse one row: what is kept of it is a copy. */
  private def live: Iterator[(Any, Any)] = state.iterator().collect {
    case (key, found) if !forgotten(found) =>
      InternalRow.copyValue(keyOf(key, 0)) -> InternalRow.copyValue(heldOf(found, 0))
  }

  override def size: Int = live.size

  /** In the order of keys: the order in the store is an implementation detail. */
  override def whole: Any = {
    val sorted = live.toArray.sortWith((a, b) => ordering.lt(a._1, b._1))
    val keys = new GenericArrayData(sorted.map(_._1))
    if (cell.kind == "set") keys
    else new ArrayBasedMapData(keys, new GenericArrayData(sorted.map(_._2)))
  }

  override def clear(): Unit = state.iterator().map(_._1.copy()).toArray.foreach(state.removeKey)

  override def replace(all: Any): Unit = {
    clear()
    all match {
      case null =>
      case map: MapData =>
        val (keys, values) = (map.keyArray(), map.valueArray())
        for (i <- 0 until map.numElements()) {
          put(keyOf(keys, i), valueOf(values, i))
        }
      case array: ArrayData =>
        for (i <- 0 until array.numElements()) put(keyOf(array, i), true)
    }
  }

  override def sweep(): Boolean = {
    var kept = false
    val old = mutable.ArrayBuffer.empty[InternalRow]
    state.iterator().foreach { case (key, found) =>
      if (forgotten(found)) old += key.copy() else kept = true
    }
    old.foreach(state.removeKey)
    kept
  }

  override def restore(piece: InternalRow): Unit = {
    key.update(0, plain(keyOf(piece, 0)))
    value.update(0, heldOf(piece, 1))
    if (lasting) value.update(1, piece.getLong(2))
    state.updateValue(key, value)
  }

  override def append(value: Any): Unit = none
}

/** A list, in the order in which its elements were added. */
private class ListEntries(cell: CellPlan, state: ListState[InternalRow], place: Place)
    extends Entries {
  private val lasting = cell.ttl > 0
  private val element = Getter(cell.key)

  private def row(held: Any): InternalRow =
    if (lasting) InternalRow(held, place.now) else InternalRow(held)

  private def forgotten(found: InternalRow): Boolean =
    lasting && found.getLong(1) + cell.ttl <= place.now

  private def live: Iterator[Any] =
    state.get().filterNot(forgotten).map(found => InternalRow.copyValue(element(found, 0)))

  override def append(held: Any): Unit = state.appendValue(row(held))

  override def size: Int = live.size

  override def whole: Any = new GenericArrayData(live.toArray)

  override def clear(): Unit = state.clear()

  override def replace(all: Any): Unit = all match {
    case array: ArrayData if array.numElements() > 0 =>
      state.put(Array.tabulate(array.numElements())(i => row(element(array, i))))
    case _ => state.clear()
  }

  override def sweep(): Boolean = {
    val (old, kept) = state.get().map(_.copy()).toArray.partition(forgotten)
    if (old.nonEmpty) { if (kept.isEmpty) state.clear() else state.put(kept) }
    kept.nonEmpty
  }

  override def restore(piece: InternalRow): Unit = state.appendValue(piece)

  override def get(key: Any): Any = none
  override def contains(key: Any): Boolean = none
  override def put(key: Any, value: Any): Unit = none
  override def remove(key: Any): Unit = none
}

/**
 * What a program keeps of a key in one row: its values, its timers, and when to wake it.
 *
 * It is read when the key's turn begins and written when that ends, if anything has changed.
 */
private[streamc] class KeyRecord(program: Program, handle: StatefulProcessorHandle, place: Place) {
  import KeyRecord._

  private val lasting = program.values.zipWithIndex.collect { case (v, i) if v.ttl > 0 => i }
  private val schema = KeyRecord.schema(program)
  private val state = handle.getValueState("record", RowEncoders.of(schema), TTLConfig.NONE)
  private val defaults = program.values.map(_.default.eval(InternalRow.empty)).toArray
  private val getters = program.values.map(v => Getter(v.value)).toArray
  private val same = program.values.map(v => Same(v.value)).toArray
  private lazy val columns = schema.map(field => Getter(field.dataType)).toArray
  private val firstWritten = program.values.length
  private val firstTimer = firstWritten + lasting.length
  private val last = firstTimer + program.timers.length

  private val written = new Array[Long](program.values.length)
  private val row = new GenericInternalRow(schema.length)

  /** The instants of timers in microseconds, [[Unset]] for one that is not set. */
  val timers: Array[Long] = new Array[Long](program.timers.length)

  /** When to wake the key, in milliseconds of its clock; the number of the next waiting row. */
  var armed: Long = Unset
  var number: Long = 0

  /** When to look for expired entries, in milliseconds. */
  var sweep: Long = Unset

  private var existed = false
  private var changed = false

  /** The clock by which the key is woken, in milliseconds. */
  private var clock = 0L

  def change(): Unit = changed = true

  /** An entry was written: it has to be removed when it expires, whether rows arrive or not. */
  def touch(cell: Int): Unit = {
    val ttl = program.entries(cell).ttl
    if (ttl > 0 && sweep == Unset) sweepAfter(ttl)
  }

  def sweepAfter(ttl: Long): Unit = {
    sweep = clock + math.max(ttl / 1000, 1)
    changed = true
  }

  def load(frame: GenericInternalRow, now: Long): Unit = {
    clock = now
    val found = state.get()
    existed = found != null
    changed = false
    var i = 0
    while (i < defaults.length) {
      frame.update(program.firstValue + i, if (existed) getters(i)(found, i) else defaults(i))
      i += 1
    }
    if (lasting.nonEmpty) forget(found, frame)
    i = 0
    while (i < timers.length) {
      timers(i) = long(found, firstTimer + i)
      i += 1
    }
    armed = long(found, last)
    number = math.max(long(found, last + 1), 0)
    sweep = long(found, last + 2)
  }

  /** Expired values return to their defaults. */
  private def forget(found: InternalRow, frame: GenericInternalRow): Unit =
    for ((i, n) <- lasting.zipWithIndex) {
      written(i) = long(found, firstWritten + n)
      if (written(i) != Unset && written(i) + program.values(i).ttl <= place.now) {
        frame.update(program.firstValue + i, defaults(i))
        written(i) = Unset
        changed = true
      }
    }

  private def long(found: InternalRow, at: Int): Long =
    if (found == null || found.isNullAt(at)) Unset else found.getLong(at)

  /** Writes the stored form of a key, and has Spark wake it: its timers may have changed. */
  def restore(piece: InternalRow): Unit = {
    var i = 0
    while (i < columns.length) {
      row.update(i, columns(i)(piece, i))
      i += 1
    }
    val at = wakes(piece)
    put(row, last, at)
    state.update(row)
    if (at != Unset) handle.registerTimer(at)
  }

  /** When a key is to be woken first, in milliseconds of its clock. */
  private def wakes(piece: InternalRow): Long = if (!program.timed) Unset else {
    var (first, i) = (long(piece, last), 0)
    while (i < timers.length) {
      val at = long(piece, firstTimer + i)
      if (at != Unset) {
        val polled = program.timers(i).processing && !program.byClock
        val wake = if (polled) KeyedProcess.polled.head else KeyedProcess.wake(at)
        if (first == Unset || wake < first) first = wake
      }
      i += 1
    }
    first
  }

  def assign(frame: GenericInternalRow, value: Int, to: Any): Unit = {
    frame.update(program.firstValue + value, to)
    written(value) = place.now
    changed = true
    if (program.values(value).ttl > 0 && sweep == Unset) sweepAfter(program.values(value).ttl)
  }

  /** Schedules another sweep while there is a value that will expire. */
  def sweepValues(frame: GenericInternalRow): Unit =
    lasting.filterNot(isDefault(frame, _)).map(program.values(_).ttl).minOption.foreach { ttl =>
      if (sweep == Unset) sweepAfter(ttl)
    }

  def clear(frame: GenericInternalRow, value: Int): Unit = assign(frame, value, defaults(value))

  def save(frame: GenericInternalRow): Unit = if (changed) {
    val idle = armed == Unset && sweep == Unset && timers.forall(_ == Unset)
    if (idle && defaults.indices.forall(i => isDefault(frame, i))) {
      if (existed) state.clear()
    } else {
      var i = 0
      while (i < defaults.length) {
        row.update(i, frame.values(program.firstValue + i))
        i += 1
      }
      if (lasting.nonEmpty) {
        for ((i, n) <- lasting.zipWithIndex) put(row, firstWritten + n, written(i))
      }
      i = 0
      while (i < timers.length) {
        put(row, firstTimer + i, timers(i))
        i += 1
      }
      put(row, last, armed)
      // Numbering may restart when no row waits.
      put(row, last + 1, if (armed == Unset) Unset else number)
      put(row, last + 2, sweep)
      state.update(row)
    }
  }

  private def put(row: GenericInternalRow, at: Int, value: Long): Unit =
    row.update(at, if (value == Unset) null else value)

  private def isDefault(frame: GenericInternalRow, value: Int): Boolean =
    same(value)(frame.values(program.firstValue + value), defaults(value))
}

private[streamc] object KeyRecord {
  val Unset: Long = Long.MinValue

  /** Everything by its name; the other columns have names that values and timers cannot. */
  def schema(program: Program): StructType = schema(program.values, program.timers)

  def schema(values: Seq[CellShape], timers: Seq[TimerPlan]): StructType = StructType(
    values.map(v => StructField(s"value_${StateName(v.name)}", StateName.within(v.value))) ++
      values.filter(_.ttl > 0).map(v => StructField(s"written_${StateName(v.name)}", LongType)) ++
      timers.map(t => StructField(s"timer_${StateName(t.name)}", TimestampType)) ++
      Seq("armed", "number", "sweep").map(StructField(_, LongType)))
}
