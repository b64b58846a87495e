package org.apache.spark.sql.streamc

import java.util.{HashMap => JavaMap}

import scala.collection.mutable.ArrayBuffer

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonProcessingException}
import com.fasterxml.jackson.core.JsonToken._
import com.fasterxml.jackson.core.exc.{InputCoercionException, StreamReadException}
import com.fasterxml.jackson.core.util.JsonParserDelegate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.json.JSONOptions
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapBuilder, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.types.variant.VariantBuilder
import org.apache.spark.unsafe.types.{UTF8String, VariantVal}

/**
 * One JSON object, from the first byte to the last, as a row of a schema.
 *
 * All columns are read, whichever of them a query needs, so that whether a row is malformed does
 * not depend on the query. Fields that the schema lacks are skipped; fields that the object lacks
 * are NULL. A STRING column accepts any value, as its text.
 */
class JsonRows(schema: StructType, options: JSONOptions, how: Leniency) extends RowParser {
  private type Read = JsonParser => Any

  private val lenient = how.lenient
  private val factory: JsonFactory = options.buildJsonFactory()
    .configure(JsonParser.Feature.ALLOW_TRAILING_COMMA, lenient)
  private val texts = new Texts(
    lenient,
    options.zoneId,
    options.locale,
    options.dateFormatInRead,
    options.timestampFormatInRead,
    options.timestampNTZFormatInRead,
    how.given)
  private val instants = new Instants(how.unit)
  private val root = struct(schema, "")
  private var input: Array[Byte] = _

  override def odd: Option[OddInstant] = instants.odd

  /** The row, or null if there is only white space. Throws Malformed. */
  override def parse(bytes: Array[Byte], length: Int): InternalRow = {
    input = bytes
    if (!UTF8String.fromBytes(bytes, 0, length).isValid) throw new Malformed("not UTF-8")
    val parser = factory.createParser(bytes, 0, length)
    try {
      parser.nextToken() match {
        case null => null
        case START_OBJECT =>
          val row = root(parser)
          nothingFollows(parser)
          row
        case START_ARRAY => throw new Malformed("an array where one object is expected")
        case token =>
          throw new Malformed(s"${Malformed.shown(parser.getText)} where an object is expected")
      }
    } catch {
      case e: JsonProcessingException => throw new Malformed(undecodable(e))
      case e: java.io.CharConversionException => throw new Malformed(s"not UTF-8: ${e.getMessage}")
    } finally parser.close()
  }

  private def nothingFollows(parser: JsonParser): Unit = {
    val next =
      try parser.nextToken()
      catch { case _: JsonProcessingException => NOT_AVAILABLE }
    if (next == START_OBJECT) throw new Malformed("a second value follows the first")
    if (next != null) throw new Malformed("trailing content after the value")
  }

  private def undecodable(error: JsonProcessingException): String = {
    // The list of expected tokens is long, and the same each time.
    val message = error.getOriginalMessage
      .replaceAll("\\s*\\(start marker at \\[.*?\\]\\)|: was expecting \\(JSON.*", "")
    val column = Option(error.getLocation).map(l => s" (column ${l.getColumnNr})").getOrElse("")
    s"not JSON: ${message.linesIterator.next()}$column"
  }

  private def struct(wanted: StructType, path: String): JsonParser => InternalRow = {
    val places = new JavaMap[String, Integer]
    wanted.fields.zipWithIndex.foreach { case (f, i) => places.put(f.name, i) }
    val names = wanted.fieldNames
    val reads = wanted.fields.map(f => value(f.dataType, JsonRows.within(path, f.name)))
    (parser: JsonParser) => {
      val row = new GenericInternalRow(reads.length)
      var name = parser.nextFieldName()
      while (name != null) {
        val token = parser.nextToken()
        val place = places.get(name)
        if (place == null) parser.skipChildren()
        else {
          val i = place.intValue
          if (token != VALUE_NULL || wanted.fields(i).dataType == VariantType) {
            try row.update(i, reads(i)(parser))
            catch { case m: Malformed => throw m.within(names(i)) }
          } else row.setNullAt(i)
        }
        name = parser.nextFieldName()
      }
      if (parser.currentToken != END_OBJECT) throw wrong(parser, wanted)
      row
    }
  }

  private def value(wanted: DataType, path: String): Read = wanted match {
    case BooleanType => p => p.currentToken match {
      case VALUE_TRUE => true
      case VALUE_FALSE => false
      case _ => throw wrong(p, wanted)
    }
    case ByteType => p => integer(p, wanted, Byte.MinValue, Byte.MaxValue).toByte
    case ShortType => p => integer(p, wanted, Short.MinValue, Short.MaxValue).toShort
    case IntegerType => p => integer(p, wanted, Int.MinValue, Int.MaxValue).toInt
    case LongType => p => integer(p, wanted, Long.MinValue, Long.MaxValue)
    case FloatType => p => {
      val read = floating(p, wanted)
      val narrow = read.toFloat
      if (narrow.isInfinite && !read.isInfinite) throw Malformed.range(p.getText, wanted)
      narrow
    }
    case DoubleType => p => floating(p, wanted)
    case decimal: DecimalType => p => p.currentToken match {
      case VALUE_NUMBER_INT | VALUE_NUMBER_FLOAT =>
        coerced(p, wanted)(Texts.fitting(p.getDecimalValue, p.getText, decimal))
      case VALUE_STRING => texts.decimal(whole(p.getText), decimal)
      case _ => throw wrong(p, wanted)
    }
    case _: StringType => p => text(p)
    case BinaryType => p => p.currentToken match {
      case VALUE_STRING =>
        try p.getBinaryValue
        catch { case _: StreamReadException => throw wrong(p, wanted) }
      case _ => throw wrong(p, wanted)
    }
    case DateType => p => texts.date(string(p, wanted))
    case TimestampType => p => p.currentToken match {
      case VALUE_NUMBER_INT => instants.of(p, path)
      case _ => texts.timestamp(string(p, wanted))
    }
    case TimestampNTZType => p => texts.ntz(string(p, wanted))
    case interval: DayTimeIntervalType => p => texts.dayTime(string(p, wanted), interval)
    case interval: YearMonthIntervalType => p => texts.yearMonth(string(p, wanted), interval)
    case VariantType => p => {
      val read = VariantBuilder.parseJson(new WholeTexts(p), false)
      new VariantVal(read.getValue, read.getMetadata)
    }
    case ArrayType(element, _) => array(wanted, value(element, path), element)
    case MapType(key, element, _) => map(wanted, key, value(element, path), element)
    case inner: StructType =>
      val read = struct(inner, path)
      p => if (p.currentToken == START_OBJECT) read(p) else throw wrong(p, wanted)
    case other => throw new IllegalArgumentException(s"${other.sql} is not read from JSON")
  }

  private def array(wanted: DataType, read: Read, element: DataType): Read = p => {
    if (p.currentToken != START_ARRAY) throw wrong(p, wanted)
    val values = new ArrayBuffer[Any]
    while (p.nextToken() != END_ARRAY) {
      values += nullOr(p, element) {
        try read(p) catch { case m: Malformed => throw m.within(s"[${values.length}]") }
      }
    }
    new GenericArrayData(values.toArray)
  }

  private def map(wanted: DataType, key: DataType, read: Read, element: DataType): Read = p => {
    if (p.currentToken != START_OBJECT) throw wrong(p, wanted)
    val entries = new ArrayBuffer[(Any, Any)]
    var name = p.nextFieldName()
    while (name != null) {
      p.nextToken()
      val found = nullOr(p, element) {
        try read(p) catch { case m: Malformed => throw m.within(name) }
      }
      entries += (UTF8String.fromString(whole(name)) -> found)
      name = p.nextFieldName()
    }
    val builder = new ArrayBasedMapBuilder(key, element)
    // Of equal keys the last one counts, as of equal fields.
    entries.toMap.foreach { case (k, v) => builder.put(k, v) }
    builder.build()
  }

  private def nullOr(p: JsonParser, wanted: DataType)(read: => Any): Any =
    if (p.currentToken == VALUE_NULL && wanted != VariantType) null else read

  private def integer(p: JsonParser, wanted: DataType, least: Long, most: Long): Long = {
    if (p.currentToken != VALUE_NUMBER_INT) throw wrong(p, wanted)
    val read = coerced(p, wanted)(p.getLongValue)
    if (read < least || read > most) throw Malformed.range(p.getText, wanted)
    read
  }

  private def floating(p: JsonParser, wanted: DataType): Double = p.currentToken match {
    case VALUE_NUMBER_INT | VALUE_NUMBER_FLOAT =>
      val read = coerced(p, wanted)(p.getDoubleValue)
      if (read.isInfinite && p.getText.exists(_.isDigit)) throw Malformed.range(p.getText, wanted)
      read
    case VALUE_STRING if options.allowNonNumericNumbers => p.getText match {
      case "NaN" => Double.NaN
      case "+INF" | "INF" | "+Infinity" | "Infinity" => Double.PositiveInfinity
      case "-INF" | "-Infinity" => Double.NegativeInfinity
      case _ => throw wrong(p, wanted)
    }
    case _ => throw wrong(p, wanted)
  }

  private def coerced[T](p: JsonParser, wanted: DataType)(read: => T): T =
    try read catch { case _: InputCoercionException => throw Malformed.range(p.getText, wanted) }

  private def string(p: JsonParser, wanted: DataType): String =
    if (p.currentToken == VALUE_STRING) whole(p.getText) else throw wrong(p, wanted)

  /** The text of a string; of any other value, the bytes as written. */
  private def text(p: JsonParser): UTF8String = p.currentToken match {
    case START_OBJECT | START_ARRAY =>
      val start = p.currentTokenLocation.getByteOffset.toInt
      p.skipChildren()
      UTF8String.fromBytes(input, start, p.currentLocation.getByteOffset.toInt - start)
    case VALUE_STRING => UTF8String.fromString(whole(p.getText))
    case _ => UTF8String.fromString(p.getText)
  }

  private def whole(text: String): String = JsonRows.whole(text)

  private def wrong(p: JsonParser, wanted: DataType): Malformed = Malformed.kind(
    p.currentToken match {
      case START_OBJECT => "an object"
      case START_ARRAY => "an array"
      case VALUE_STRING => Texts.quoted(p.getText)
      case _ => p.getText
    },
    wanted)
}

object JsonRows {
  private def within(path: String, name: String): String = if (path.isEmpty) name else s"$path.$name"

  /**
   * A text unchanged: an unpaired surrogate, `\\ud83d`, would become a question mark, like any
   * other.
   */
  def whole(text: String): String = {
    val at = Texts.half(text)
    if (at < 0) text
    else throw new Malformed(f"a text with an unpaired surrogate, \\u${text.charAt(at).toInt}%04x")
  }
}

/** A parser whose names and texts have no unpaired surrogates. */
private class WholeTexts(parser: JsonParser) extends JsonParserDelegate(parser) {
  override def getText: String = JsonRows.whole(super.getText)
  override def getCurrentName: String = whole(super.getCurrentName)
  override def currentName: String = whole(super.currentName)

  private def whole(name: String): String = if (name == null) null else JsonRows.whole(name)
}
