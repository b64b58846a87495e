package org.apache.spark.sql.streamc

import org.apache.spark.sql.types._

/**
 * Names in state are restricted to those of Avro, in which Spark writes the schema of a state.
 *
 * Any other character is written as `_x0020`, one for each UTF-16 unit; text that already looks
 * like that is escaped as well, so that `program_state.py` can decode each name.
 */
private[streamc] object StateName {
  private val Written = "_(?=x[0-9a-f]{4})".r

  def apply(name: String): String =
    escaped(name).map(c => if (c < 128 && isPart(c)) c.toString else unit(c)).mkString

  /** A name without a prefix: Avro's names do not begin with a digit. */
  def alone(name: String): String =
    if (name.charAt(0) >= '0' && name.charAt(0) <= '9') unit(name.charAt(0)) + apply(name.tail)
    else apply(name)

  /** A type with such names at every depth. Its values are the same: rows are read by position. */
  def within(kind: DataType): DataType = kind match {
    case StructType(fields) => StructType(
      fields.map(f => f.copy(name = field(f.name), dataType = within(f.dataType))))
    case ArrayType(element, nulls) => ArrayType(within(element), nulls)
    case MapType(key, value, nulls) => MapType(within(key), within(value), nulls)
    case other => other
  }

  /** Letters of all scripts are kept: existing states have them. */
  private def field(name: String): String =
    escaped(name).zipWithIndex.map { case (c, i) =>
      if (isPart(c) && (i > 0 || !c.isDigit)) c.toString else unit(c)
    }.mkString

  private def escaped(name: String): String = Written.replaceAllIn(name, unit('_'))

  private def isPart(c: Char): Boolean = c.isLetterOrDigit || c == '_'

  private def unit(c: Char): String = f"_x${c.toInt}%04x"
}
