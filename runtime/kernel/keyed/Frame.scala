package org.apache.spark.sql.streamc

import java.nio.ByteBuffer

import scala.util.hashing.MurmurHash3

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig}
import org.apache.spark.sql.types._

/**
 * A cell that holds the rows of a frame of OVER: its index among the values, the attributes of a
 * row, whose first is its instant, and the aggregates over them.
 */
case class FramePlan(
    name: String, value: Int, columns: Seq[Attribute], functions: Seq[DeclarativeAggregate]) {
  val row: StructType = StructType(columns.map(a => StructField(a.name, a.dataType)))
}

/**
 * The rows of a key's frame, each an entry of its own under its number, and their aggregates.
 *
 * The rows are two stacks: those before `middle` each have the aggregate of themselves and all
 * after them up to there, those from it on have one aggregate together. An aggregate over all is the
 * first row's merged with that one; when a row from `middle` on leaves, the rows that are left get
 * aggregates of their own. So a row is written, read and aggregated a fixed number of times, however
 * many the frame has. The order of additions depends on the rows alone, so that floats are the same
 * however rows are batched; it begins anew with rows that are restored.
 *
 * The aggregates can be computed from the rows: for other functions they are, at the next turn.
 */
private[streamc] class Frame(plan: FramePlan, handle: StatefulProcessorHandle) {
  import Frame._

  private val state: MapState[InternalRow, InternalRow] = handle.getMapState(
    name(plan.name), RowEncoders.of(Keys), RowEncoders.of(entries(plan.row)), TTLConfig.NONE)
  private val buffers = new Buffers(plan)
  private val width = plan.row.length
  private val key = new GenericInternalRow(1)
  private val entry = new GenericInternalRow(2)

  private var first, middle, next = 0L
  private var loaded, dirty, stored = false
  private val back = buffers.made()

  /** The first row as it is stored, and the aggregates over all, once they are needed. */
  private var head: InternalRow = _
  private var results: InternalRow = _

  /** Begins a turn of a key; `held` is its value in the record. */
  def open(held: Any): Unit = {
    reset()
    dirty = false
    stored = false
    held match {
      case rows: ArrayData if isElsewhere(rows, width) => loaded = false
      // A list in the record is of a state that was restored, or is from before there were frames.
      case rows: ArrayData => rows.foreach(rowType, (_, row) => append(row.asInstanceOf[InternalRow]))
      case _ =>
    }
  }

  /** Ends the turn; returns the value for the record. */
  def close(): Any = {
    if (dirty && next > first) putNumbers()
    if (!loaded || next > first) elsewhere else null
  }

  /** Adds rows, then drops those before an instant, or all but the `last` ones. */
  def keep(rows: ArrayData, since: Any, last: Long): Unit = {
    load()
    rows.foreach(rowType, (_, row) => append(row.asInstanceOf[InternalRow]))
    if (since == null) while (next - first > last) drop()
    else {
      val instant = since.asInstanceOf[Long]
      while (first < next && front.getStruct(0, width).getLong(0) < instant) drop()
    }
    if (first > middle) turnOver()
  }

  /** The value of an aggregate over all rows. */
  def value(function: Int): Any = {
    if (results == null) {
      load()
      results = buffers.values(whole)
    }
    buffers.getters(function)(results, function)
  }

  def clear(): Unit = {
    load()
    while (first < next) drop()
    if (stored) remove(Numbers)
    stored = false
    reset()
  }

  private val elsewhere = new GenericArrayData(Array[Any](new GenericInternalRow(width), null))
  private val rowType: DataType = plan.row

  private def reset(): Unit = {
    first = 0
    middle = 0
    next = 0
    loaded = true
    head = null
    results = null
    buffers.begin(back)
  }

  private def whole: InternalRow =
    if (first == middle) back
    else {
      val one = buffers.read(front.getBinary(1))
      if (middle < next) buffers.merge(one, back)
      one
    }

  private def append(row: InternalRow): Unit = {
    put(next, row, null)
    buffers.update(back, row)
    next += 1
    change()
  }

  private def drop(): Unit = {
    remove(first)
    first += 1
    head = null
    change()
  }

  private def turnOver(): Unit = {
    var after: InternalRow = null
    var n = next - 1
    while (n >= first) {
      val row = get(n).getStruct(0, width)
      val one = buffers.made()
      buffers.update(one, row)
      if (after != null) buffers.merge(one, after)
      put(n, row, buffers.bytes(one))
      after = one
      n -= 1
    }
    middle = next
    head = null
    buffers.begin(back)
  }

  private def change(): Unit = {
    dirty = true
    results = null
  }

  private def front: InternalRow = {
    if (head == null) head = get(first).copy()
    head
  }

  // The store.

  private def load(): Unit = if (!loaded) {
    loaded = true
    stored = true
    val found = ByteBuffer.wrap(get(Numbers).getBinary(1))
    val same = found.getInt() == buffers.signature
    first = found.getLong()
    middle = found.getLong()
    next = found.getLong()
    if (same) {
      val rest = new Array[Byte](found.remaining())
      found.get(rest)
      buffers.copy(back, rest)
    } else {
      middle = first
      for (n <- first until next) buffers.update(back, get(n).getStruct(0, width))
      dirty = true
    }
  }

  private def putNumbers(): Unit = {
    val held = buffers.bytes(back)
    val whole = ByteBuffer.allocate(4 + 3 * 8 + held.length)
    whole.putInt(buffers.signature).putLong(first).putLong(middle).putLong(next).put(held)
    put(Numbers, null, whole.array())
    stored = true
  }

  private def get(number: Long): InternalRow = {
    key.update(0, number)
    val found = state.getValue(key)
    if (found == null) throw new IllegalStateException(s"${plan.name} has no row $number")
    found
  }

  private def put(number: Long, row: InternalRow, partial: Array[Byte]): Unit = {
    key.update(0, number)
    entry.update(0, row)
    entry.update(1, partial)
    state.updateValue(key, entry)
  }

  private def remove(number: Long): Unit = {
    key.update(0, number)
    state.removeKey(key)
  }
}

private[streamc] object Frame {
  /** The entry with the numbers of rows. */
  private val Numbers = -1L

  val Keys: StructType = StructType(Seq(StructField("number", LongType)))

  def name(cell: String): String = s"frame_${StateName(cell)}"

  private def entries(row: StructType): StructType = StructType(
    Seq(StructField("row", StateName.within(row)), StructField("partial", BinaryType)))

  /**
   * Whether the value in a record says that rows are entries: a row of NULLs and a NULL, which no
   * frame has.
   */
  def isElsewhere(held: ArrayData, width: Int): Boolean =
    held.numElements() == 2 && held.isNullAt(1) && !held.isNullAt(0) && {
      val row = held.getStruct(0, width)
      (0 until width).forall(row.isNullAt)
    }

  /** The buffers of the aggregates of a frame, as generated code updates and merges them. */
  private class Buffers(plan: FramePlan) {
    private val functions = plan.functions
    private val attributes = functions.flatMap(_.aggBufferAttributes)
    private val types = attributes.map(_.dataType)
    private val others = functions.flatMap(_.inputAggBufferAttributes)
    private val joined = new JoinedRow
    private val initial = mutable(functions.flatMap(_.initialValues), Nil)
    private val updates = mutable(functions.flatMap(_.updateExpressions), attributes ++ plan.columns)
    private val merges = mutable(functions.flatMap(_.mergeExpressions), attributes ++ others)
    private val same = mutable(attributes, attributes)
    private val evaluated = SafeProjection.create(
      bound(functions.map(_.evaluateExpression), attributes))
    private val unsafe = UnsafeProjection.create(types.toArray)

    val getters: Array[(SpecializedGetters, Int) => Any] =
      functions.map(f => Getter(f.evaluateExpression.dataType)).toArray

    /** What the buffers are of. */
    val signature: Int = MurmurHash3.stringHash(
      (SPARK_VERSION +: functions.map(_.sql) ++: types.map(_.sql)).mkString("\n"))

    private def bound(expressions: Seq[Expression], input: Seq[Attribute]): Seq[Expression] =
      expressions.map(BindReferences.bindReference(_, AttributeSeq(input)))

    private def mutable(expressions: Seq[Expression], input: Seq[Attribute]): MutableProjection =
      MutableProjection.create(bound(expressions, input))

    def made(): InternalRow = begin(new SpecificInternalRow(types))

    def begin(buffer: InternalRow): InternalRow = {
      initial.target(buffer)(InternalRow.empty)
      buffer
    }

    def update(buffer: InternalRow, row: InternalRow): Unit =
      updates.target(buffer)(joined(buffer, row))

    def merge(buffer: InternalRow, after: InternalRow): Unit =
      merges.target(buffer)(joined(buffer, after))

    def values(buffer: InternalRow): InternalRow = evaluated(buffer).copy()

    def bytes(buffer: InternalRow): Array[Byte] = unsafe(buffer).getBytes.clone()

    def copy(buffer: InternalRow, held: Array[Byte]): Unit = {
      val found = new UnsafeRow(types.length)
      found.pointTo(held, held.length)
      same.target(buffer)(found)
    }

    def read(held: Array[Byte]): InternalRow = {
      val buffer = new SpecificInternalRow(types)
      copy(buffer, held)
      buffer
    }
  }
}
