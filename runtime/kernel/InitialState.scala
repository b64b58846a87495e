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
  val pieces: StructType = InitialState.pieces(
    KeyRecord.schema(program), if (program.ordered) Some(program.row) else None, program.entries)

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
  /** The pieces of a program; `row` is what rows are that wait, None when none do. */
  def pieces(record: StructType, row: Option[StructType], entries: Seq[CellShape]): StructType =
    StructType(
      StructField("record", record) +:
        row.map(kind => StructField("waiting", waiting(kind))).toSeq ++:
        entries.map(c => StructField(Entries.name(c), Entries.schema(c))))

  private def waiting(row: StructType): StructType = StructType(Seq(
    StructField("at", LongType), StructField("number", LongType), StructField("row", row)))
}
