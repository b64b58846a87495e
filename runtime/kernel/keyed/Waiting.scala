package org.apache.spark.sql.streamc

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.CompositeKeyStateEncoder
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig}
import org.apache.spark.sql.types._

/**
 * The rows of a key that wait for the watermark, each an entry of its own.
 *
 * RocksDB keeps the entries of a key in the order of their bytes. Their instants and numbers are
 * encoded so that this is the order of the instants: due rows are read from the front, and no
 * others.
 */
private[streamc] class Waiting(program: Program, handle: StatefulProcessorHandle) {
  private val name = "waiting"
  private val schema = StructType(Seq(StructField("at", LongType), StructField("number", LongType)))
  private val (places, rows) = (RowEncoders.of(schema), RowEncoders.of(program.row))
  private val state: MapState[InternalRow, InternalRow] =
    handle.getMapState(name, places, rows, TTLConfig.NONE)
  private val place = new GenericInternalRow(2)

  private lazy val encoder = new CompositeKeyStateEncoder[InternalRow, InternalRow](
    RowEncoders.of(program.stateKeys).asInstanceOf[ExpressionEncoder[Any]], places, rows, name)

  /** Spark's own iterator over a map cannot be closed before its end. */
  private lazy val store: StateStore = Internals.store(handle)

  def add(at: Long, number: Long, row: InternalRow): Unit =
    state.updateValue(placed(at, number), row)

  private def remove(at: Long, number: Long): Unit = state.removeKey(placed(at, number))

  private def placed(at: Long, number: Long): InternalRow = {
    place.update(0, ordered(at))
    place.update(1, ordered(number))
    place
  }

  /** Numbers whose bytes, lowest first as in memory, sort as the numbers do. */
  private def ordered(n: Long): Long = java.lang.Long.reverseBytes(n ^ Long.MinValue)

  private def plain(n: Long): Long = java.lang.Long.reverseBytes(n) ^ Long.MinValue

  /** An iterator from the first row on; it must be closed. */
  def open(): Front = new Front

  class Front {
    private val found = store.prefixScan(encoder.encodeGroupingKey(), name)
    private var last = Long.MinValue
    private var head: (Long, Long, InternalRow) = _
    step()

    /** The instant of the first row, [[KeyRecord.Unset]] if none waits. */
    def at: Long = if (head == null) KeyRecord.Unset else head._1

    /** Removes and returns the rows of the first instant. */
    def take(): Array[InternalRow] = {
      val (instant, rows) = (at, mutable.ArrayBuffer.empty[InternalRow])
      while (at == instant) {
        remove(instant, head._2)
        rows += head._3
        step()
      }
      rows.toArray
    }

    private def step(): Unit = {
      head = null
      if (found.hasNext) {
        val pair = found.next()
        val key = encoder.decodeCompositeKey(pair.key)
        head = (plain(key.getLong(0)), plain(key.getLong(1)), pair.value.copy())
        if (head._1 < last) throw new IllegalStateException("waiting rows are out of order")
        last = head._1
      }
    }

    def close(): Unit = found.close()
  }
}
