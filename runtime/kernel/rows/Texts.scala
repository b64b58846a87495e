package org.apache.spark.sql.streamc

import java.math.{BigDecimal, RoundingMode}
import java.time.{ZoneId, ZoneOffset}
import java.util.Locale

import scala.util.control.NonFatal
import scala.util.matching.Regex

import org.apache.spark.sql.catalyst.expressions.ExprUtils
import org.apache.spark.sql.catalyst.util.{DateFormatter, DateTimeUtils, IntervalUtils, LegacyDateFormats, TimestampFormatter}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Why a row does not fit its source's declaration; without a stack trace, so that it is cheap. */
class Malformed(val reason: String, val path: String = "")
    extends Exception(reason, null, false, false) {

  /** The same for a value one level deeper. */
  def within(step: String): Malformed =
    new Malformed(reason, if (path.isEmpty || path.startsWith("[")) step + path else s"$step.$path")

  def message: String = if (path.isEmpty) reason else s"`$path` is $reason"
}

object Malformed {
  private val Shown = 60

  /** A text in a reason: if it is long, its beginning. */
  def shown(text: String): String =
    if (text.length <= Shown) text else text.substring(0, Shown) + "…"

  def kind(text: String, wanted: DataType): Malformed =
    new Malformed(s"${shown(text)}, which is not a valid ${wanted.sql}")

  def range(text: String, wanted: DataType): Malformed =
    new Malformed(s"${shown(text)}, which does not fit ${wanted.sql}")
}

/**
 * Values that formats write as text: numbers, instants, dates, intervals.
 *
 * They are read as Spark and Java read them, except for what was hardly intended: digits of other
 * scripts, `2.5f` and `0x1p3` as numbers, `1,5` as fifteen, a time without a date (today), a date
 * followed by anything. A `lenient` one also accepts spaces around a value, `1,234.50` as a
 * DECIMAL, and incomplete instants and dates.
 *
 * In tests, values may be `given` that are no texts of the source: instants that begin with Given.
 */
class Texts(
    lenient: Boolean,
    zone: ZoneId,
    locale: Locale,
    dateFormat: Option[String],
    timestampFormat: Option[String],
    ntzFormat: Option[String],
    given: Boolean) {
  private lazy val timestamps = TimestampFormatter(
    timestampFormat, zone, locale, LegacyDateFormats.FAST_DATE_FORMAT, isParsing = true)
  private lazy val ntzs = TimestampFormatter(
    ntzFormat, zone, LegacyDateFormats.FAST_DATE_FORMAT, isParsing = true, forTimestampNTZ = true)
  private lazy val dates =
    DateFormatter(dateFormat, locale, LegacyDateFormats.FAST_DATE_FORMAT, isParsing = true)
  private lazy val foreignDecimals = ExprUtils.getDecimalParser(locale)

  private lazy val givenOnes = new Texts(false, ZoneOffset.UTC, Locale.US, None, None, None, false)

  def timestamp(written: String): Long =
    if (isGiven(written)) givenOnes.timestamp(written.substring(1))
    else {
      val text = if (timestampFormat.isEmpty) written else trimmed(written)
      whole(text, timestampFormat, Texts.Instant, TimestampType)
      parsed(written, TimestampType)(timestamps.parse(text))
    }

  def ntz(written: String): Long =
    if (isGiven(written)) givenOnes.ntz(written.substring(1))
    else {
      val text = if (ntzFormat.isEmpty) written else trimmed(written)
      whole(text, ntzFormat, Texts.Instant, TimestampNTZType)
      parsed(written, TimestampNTZType)(ntzs.parseWithoutTimeZone(text, allowTimeZone = false))
    }

  private def isGiven(text: String): Boolean =
    given && text.nonEmpty && text.charAt(0) == Texts.Given

  def date(text: String): Int = {
    whole(text, dateFormat, Texts.Day, DateType)
    parsed(text, DateType)(dates.parse(text))
  }

  /** An integer in digits 0 to 9, with an optional sign. */
  def integer(written: String, wanted: DataType, least: Long, most: Long): Long = {
    val text = trimmed(written)
    if (!Texts.isWhole(text)) throw Malformed.kind(Texts.quoted(written), wanted)
    val read =
      try java.lang.Long.parseLong(text)
      catch { case _: NumberFormatException => throw Malformed.range(text, wanted) }
    if (read < least || read > most) throw Malformed.range(text, wanted)
    read
  }

  /** A number in digits 0 to 9, with an optional point and exponent. */
  def floating(written: String, wanted: DataType): Double = {
    val text = trimmed(written)
    if (!Texts.Number.matches(text)) throw Malformed.kind(Texts.quoted(written), wanted)
    val read = java.lang.Double.parseDouble(text)
    if (read.isInfinite) throw Malformed.range(text, wanted)
    read
  }

  def boolean(written: String): Boolean = trimmed(written).toLowerCase(Locale.ROOT) match {
    case "true" => true
    case "false" => false
    case _ => throw Malformed.kind(Texts.quoted(written), BooleanType)
  }

  def trimmed(text: String): String = if (lenient) text.strip else text

  def dayTime(text: String, wanted: DayTimeIntervalType): Long = parsed(text, wanted) {
    IntervalUtils.castStringToDTInterval(
      UTF8String.fromString(text), wanted.startField, wanted.endField)
  }

  def yearMonth(text: String, wanted: YearMonthIntervalType): Int = parsed(text, wanted) {
    IntervalUtils.castStringToYMInterval(
      UTF8String.fromString(text), wanted.startField, wanted.endField)
  }

  def decimal(text: String, wanted: DecimalType): Decimal =
    Texts.fitting(parsed(text, wanted)(number(text)), text, wanted)

  private def number(written: String): BigDecimal = {
    val text = trimmed(written)
    if (locale != Locale.US) foreignDecimals(text)
    else if (Texts.Number.matches(text)) new BigDecimal(text)
    else if (lenient && Texts.Grouped.matches(text)) new BigDecimal(text.replace(",", ""))
    else throw new NumberFormatException(text)
  }

  /**
   * Rejects what Spark would complete, or read only in part: a time of day is one of the day on
   * which it is read, `202601` a year, and a date may be followed by anything.
   */
  private def whole(
      text: String, format: Option[String], form: Regex, wanted: DataType): Unit =
    if (format.isEmpty) {
      val fits = if (lenient) Texts.TimeOfDay.findPrefixOf(text).isEmpty else form.matches(text)
      if (!fits) throw Malformed.kind(Texts.quoted(text), wanted)
    }

  private def parsed[T](text: String, wanted: DataType)(parse: => T): T =
    try parse catch { case NonFatal(_) => throw Malformed.kind(Texts.quoted(text), wanted) }
}

object Texts {
  /** What an instant begins with that a test gives as a value; ISO text follows. */
  private val Given = '\u0001'

  /** Whether Java knows a time zone of that name. */
  def isZone(name: String): Boolean =
    try { DateTimeUtils.getZoneId(name); true } catch { case NonFatal(_) => false }

  /** Whether instants can be parsed by a pattern. */
  def isPattern(pattern: String): Boolean =
    try {
      TimestampFormatter(
        Some(pattern), ZoneOffset.UTC, Locale.US, LegacyDateFormats.FAST_DATE_FORMAT,
        isParsing = true)
      true
    } catch { case NonFatal(_) => false }

  private val Grouped = "[+-]?[0-9]{1,3}(,[0-9]{3})+(\\.[0-9]*)?".r
  private val TimeOfDay = "\\s*T?[0-9]{1,2}:|\\s*T".r
  private val Number = "[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?".r
  private val Day = "[+-]?[0-9]{4,7}-[0-9]{1,2}-[0-9]{1,2}".r
  private val Instant = (s"$Day" +
    "(?:[T ][0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:\\.[0-9]*)?)?(?: ?[A-Za-z+-][A-Za-z0-9/_:+-]*)?)?").r

  /** Whether a text is digits 0 to 9, with an optional sign. */
  def isWhole(text: String): Boolean = {
    val first = if (text.nonEmpty && (text.charAt(0) == '-' || text.charAt(0) == '+')) 1 else 0
    var at = first
    while (at < text.length && text.charAt(at) >= '0' && text.charAt(at) <= '9') at += 1
    at == text.length && at > first
  }

  /** The index of an unpaired surrogate, which no text can contain; -1 if there is none. */
  def half(text: String): Int = {
    var at = 0
    while (at < text.length) {
      val c = text.charAt(at)
      if (Character.isSurrogate(c)) {
        val pair = Character.isHighSurrogate(c) && at + 1 < text.length &&
          Character.isLowSurrogate(text.charAt(at + 1))
        if (!pair) return at
        at += 1
      }
      at += 1
    }
    -1
  }

  def quoted(text: String): String = "\"" + Malformed.shown(text) + "\""

  /** A number in its column's scale, rounded half up; one with too many digits is malformed. */
  def fitting(number: BigDecimal, text: => String, wanted: DecimalType): Decimal = {
    // Before rescaling: 1e999999999 has that many digits when written out.
    val digits = number.precision.toLong - number.scale
    if (number.signum == 0 || digits < -wanted.scale) {
      Decimal(BigDecimal.ZERO.setScale(wanted.scale), wanted.precision, wanted.scale)
    } else {
      if (digits > wanted.precision - wanted.scale) throw Malformed.range(text, wanted)
      val scaled = number.setScale(wanted.scale, RoundingMode.HALF_UP)
      if (scaled.precision > wanted.precision) throw Malformed.range(text, wanted)
      Decimal(scaled, wanted.precision, wanted.scale)
    }
  }
}
