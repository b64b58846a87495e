package org.apache.spark.sql.streamc

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

/**
 * The state that a program begins with, as rows: a key, and one piece of its state in each.
 *
 * `record` is everything without an entry of its own, `waiting` a row that the watermark has not
 * passed, `cell_<name>` an entry of a map or set or an element of a list. The others are null.
 * Pieces have the form of the state variables, under the same names.
 */
private[streamc] class InitialState(program: Program) {
  val pieces: StructType = InitialState.pieces(
    KeyRecord.schema(program), if (program.ordered) Some(program.row) else None, program.entries)

  /** Keys, then pieces. */
  val schema: StructType =
    StructType(
      program.keys.zip(program.stateKeys).map { case (key, held) =>
        held.copy(name = StateName.alone(key.name))
      } ++ pieces)

  /** Where pieces are written. */
  def at(record: KeyRecord, waiting: Waiting, entries: Array[Entries]): Shelves = {
    val row = program.row.length
    new Shelves(pieces.toArray.map { field =>
      val put: InternalRow => Unit = field.name match {
        case "record" => record.restore
        case "waiting" => held => waiting.add(held.getLong(0), held.getLong(1), held.getStruct(2, row))
        case name => entries(program.entries.indexWhere(c => Entries.name(c) == name)).restore
      }
      (field.dataType.asInstanceOf[StructType].length, put)
    })
  }

  /** For each piece, the number of its columns and where it is written. */
  class Shelves(all: Array[(Int, InternalRow => Unit)]) {
    private val keys = program.keys.length

    /** Writes the pieces of a row. */
    def put(row: InternalRow): Unit = {
      var i = 0
      while (i < all.length) {
        if (!row.isNullAt(keys + i)) all(i)._2(row.getStruct(keys + i, all(i)._1))
        i += 1
      }
    }
  }
}

private[streamc] object InitialState {
  /** The pieces of a program; `row` is the schema of waiting rows, None if rows do not wait. */
  def pieces(record: StructType, row: Option[StructType], entries: Seq[CellShape]): StructType =
    StructType(
      StructField("record", record) +:
        row.map(kind => StructField("waiting", waiting(kind))).toSeq ++:
        entries.map(c => StructField(Entries.name(c), Entries.schema(c))))

  /** Columns of rows already have their names in state. */
  private def waiting(row: StructType): StructType = StructType(Seq(
    StructField("at", LongType),
    StructField("number", LongType),
    StructField(
      "row", StructType(row.map(f => f.copy(dataType = StateName.within(f.dataType)))))))
}
