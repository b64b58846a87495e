package org.apache.spark.sql.streamc

import java.nio.ByteBuffer
import java.nio.charset.{CharacterCodingException, Charset, StandardCharsets}

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.csv.CSVOptions
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * One line of delimited text as a row of a schema, fields matched by position.
 *
 * A field is quoted if it begins with a quote, and then has to end with one: an unclosed quote, and
 * text between it and the next delimiter, are malformed; nothing is guessed.
 */
class CsvRows(schema: StructType, options: CSVOptions, how: Leniency) extends RowParser {
  private val charset = Charset.forName(options.charset)
  private val delimiter = options.delimiter
  private val first = delimiter.charAt(0)
  private val fields = schema.fields
  private val reads: Array[String => Any] = fields.map(f => value(f.dataType))
  private val lenient = how.lenient
  private val texts = new Texts(
    lenient,
    options.zoneId,
    options.locale,
    options.dateFormatOption,
    options.timestampFormatInRead,
    options.timestampNTZFormatInRead,
    how.given)
  private val instants = new Instants(how.unit)

  /** The row, or null for an empty line. Throws Malformed. */
  override def parse(bytes: Array[Byte], length: Int): InternalRow = {
    val line = decode(bytes, length)
    if (isNoRow(line)) null else row(split(line))
  }

  def isNoRow(line: String): Boolean =
    line.isBlank || (options.isCommentSet && line.trim.charAt(0) == options.comment)

  /** The text of a line; bytes that are not valid text are malformed. */
  def decode(bytes: Array[Byte], length: Int): String = {
    val text = new String(bytes, 0, length, charset)
    // The decoder that reports invalid bytes is slow, and rarely needed.
    if (text.indexOf('\uFFFD') < 0) text
    else try charset.newDecoder().decode(ByteBuffer.wrap(bytes, 0, length)).toString
    catch { case _: CharacterCodingException => throw new Malformed(s"not ${options.charset}") }
  }

  private def row(found: ArrayBuffer[String]): InternalRow = {
    if (found.length != fields.length) {
      throw new Malformed(s"${found.length} fields where ${fields.length} are expected")
    }
    val row = new GenericInternalRow(fields.length)
    var i = 0
    while (i < fields.length) {
      val text = found(i)
      if (text != null && text != options.nullValue) {
        try row.update(i, reads(i)(text))
        catch { case m: Malformed => throw m.within(fields(i).name) }
      }
      i += 1
    }
    row
  }

  /** The fields of a line; null for one that is empty and not quoted. */
  def split(line: String): ArrayBuffer[String] = {
    val found = new ArrayBuffer[String](fields.length)
    var at = 0
    while (at >= 0) at = field(line, at, found)
    found
  }

  /** Appends the field that begins at an index; returns where the next one begins, or -1. */
  private def field(line: String, from: Int, found: ArrayBuffer[String]): Int = {
    var start = from
    if (options.ignoreLeadingWhiteSpaceInRead) {
      while (start < line.length && line.charAt(start) == ' ') start += 1
    }
    if (start < line.length && line.charAt(start) == options.quote && options.quote != 0) {
      quoted(line, start + 1, found)
    } else {
      val end = next(line, start)
      val text = line.substring(start, if (end < 0) line.length else end)
      val kept = if (options.ignoreTrailingWhiteSpaceInRead) text.stripTrailing else text
      found += (if (kept.isEmpty) null else kept)
      if (end < 0) -1 else end + delimiter.length
    }
  }

  private def quoted(line: String, from: Int, found: ArrayBuffer[String]): Int = {
    val text = new java.lang.StringBuilder
    var at = from
    var open = true
    while (open) {
      if (at >= line.length) throw CsvRows.Unclosed
      val c = line.charAt(at)
      val after = if (at + 1 < line.length) line.charAt(at + 1) else '\u0000'
      val escapes = after != 0 && (after == options.quote || after == options.escape)
      if (c == options.escape && escapes && options.escape != 0) {
        text.append(after)
        at += 2
      } else if (c == options.quote) {
        open = false
        at += 1
      } else {
        text.append(c)
        at += 1
      }
    }
    found += (if (text.length == 0) options.emptyValueInRead else text.toString)
    if (options.ignoreTrailingWhiteSpaceInRead) {
      while (at < line.length && line.charAt(at) == ' ') at += 1
    }
    if (at == line.length) -1
    else if (line.startsWith(delimiter, at)) at + delimiter.length
    else throw new Malformed("text follows a closing quote")
  }

  private def next(line: String, from: Int): Int =
    if (delimiter.length == 1) line.indexOf(first, from) else line.indexOf(delimiter, from)

  private def value(wanted: DataType): String => Any = wanted match {
    case BooleanType => text => texts.boolean(text)
    case ByteType => text => texts.integer(text, wanted, Byte.MinValue, Byte.MaxValue).toByte
    case ShortType => text => texts.integer(text, wanted, Short.MinValue, Short.MaxValue).toShort
    case IntegerType => text => texts.integer(text, wanted, Int.MinValue, Int.MaxValue).toInt
    case LongType => text => texts.integer(text, wanted, Long.MinValue, Long.MaxValue)
    case FloatType => text => {
      val read = floating(text, wanted)
      val narrow = read.toFloat
      if (narrow.isInfinite && !read.isInfinite) throw Malformed.range(text, wanted)
      narrow
    }
    case DoubleType => text => floating(text, wanted)
    case decimal: DecimalType => text => texts.decimal(text, decimal)
    case _: StringType => text => UTF8String.fromString(text)
    case BinaryType => text => text.getBytes(StandardCharsets.UTF_8)
    case DateType => text => texts.date(text)
    case TimestampType if how.unit.isDefined => text => {
      val number = texts.trimmed(text)
      if (Texts.isWhole(number)) instants.of(number) else texts.timestamp(text)
    }
    case TimestampType => text => texts.timestamp(text)
    case TimestampNTZType => text => texts.ntz(text)
    case interval: DayTimeIntervalType => text => texts.dayTime(text, interval)
    case interval: YearMonthIntervalType => text => texts.yearMonth(text, interval)
    case other => throw new IllegalArgumentException(s"${other.sql} is not read from csv")
  }

  /**
   * Words for special values are accepted if the source allows them: by `lenient`, or by naming
   * them.
   */
  private def floating(text: String, wanted: DataType): Double =
    if (is(text, "nanValue", options.nanValue)) Double.NaN
    else if (is(text, "positiveInf", options.positiveInf)) Double.PositiveInfinity
    else if (is(text, "negativeInf", options.negativeInf)) Double.NegativeInfinity
    else if (!lenient) texts.floating(text, wanted)
    else text.strip match {
      case "NaN" => Double.NaN
      case "Infinity" | "+Infinity" | "Inf" | "+Inf" => Double.PositiveInfinity
      case "-Infinity" | "-Inf" => Double.NegativeInfinity
      case _ => texts.floating(text, wanted)
    }

  private def is(text: String, option: String, word: String): Boolean =
    text == word && how.named.contains(option.toLowerCase)
}

object CsvRows {
  /** Also a line end within quotes: where a row may span lines, the next line belongs to it. */
  val Unclosed = new Malformed("a quote is opened but not closed")
}
