package org.apache.spark.sql.streamc

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

/**
 * The state that a program begins with, as rows: each has a key, and one piece of what that has.
 *
 * `record` is all that is not an entry of its own, `waiting` a row that the watermark has not passed,
 * `cell_<name>` an entry of a map or set or an element of a list. The others are null. Pieces are what
 * the state variables hold, under the same names.
 */
private[streamc] class InitialState(program: Program) {
  val pieces: StructType = StructType(
    StructField("record", KeyRecord.schema(program)) +:
      (if (program.ordered) Seq(StructField("waiting", InitialState.waiting(program))) else Nil) ++:
      program.entries.map(c => StructField(Entries.name(c), Entries.schema(c))))

  /** Keys, then pieces. */
  val schema: StructType = StructType(program.keys ++ pieces)

  /** Puts a piece where it belongs. `row` has the pieces, behind `keys` columns that are not looked at. */
  def put(
      row: InternalRow, keys: Int, record: KeyRecord, waiting: Waiting, entries: Array[Entries]): Unit = {
    for ((field, i) <- pieces.zipWithIndex if !row.isNullAt(keys + i)) {
      val piece = row.getStruct(keys + i, field.dataType.asInstanceOf[StructType].length)
      field.name match {
        case "record" => record.restore(piece)
        case "waiting" =>
          waiting.add(piece.getLong(0), piece.getLong(1), piece.getStruct(2, program.row.length))
        case name => entries(program.entries.indexWhere(c => Entries.name(c) == name)).restore(piece)
      }
    }
  }
}

private[streamc] object InitialState {
  def waiting(program: Program): StructType = StructType(Seq(
    StructField("at", LongType), StructField("number", LongType), StructField("row", program.row)))
}
