package org.apache.spark.sql.streamc

import java.math.{BigDecimal, RoundingMode}
import java.time.ZoneId
import java.util.Locale

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.ExprUtils
import org.apache.spark.sql.catalyst.util.{DateFormatter, IntervalUtils, LegacyDateFormats, TimestampFormatter}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Why a row is not what its source declares; cheap, since it is no place in the code. */
class Malformed(val reason: String, val path: String = "")
    extends Exception(reason, null, false, false) {

  /** The same, told of a value that lies deeper by one step. */
  def within(step: String): Malformed =
    new Malformed(reason, if (path.isEmpty || path.startsWith("[")) step + path else s"$step.$path")

  def told: String = if (path.isEmpty) reason else s"`$path` is $reason"
}

object Malformed {
  private val Shown = 60

  /** A text as a reason shows it: the beginning of what is long. */
  def shown(text: String): String =
    if (text.length <= Shown) text else text.substring(0, Shown) + "…"

  def kind(text: String, wanted: DataType): Malformed =
    new Malformed(s"${shown(text)}, which is no ${wanted.sql}")

  def range(text: String, wanted: DataType): Malformed =
    new Malformed(s"${shown(text)}, which does not fit ${wanted.sql}")
}

/**
 * Values that formats write as text: instants, dates, decimals, intervals.
 *
 * What Spark reads is read in the same way, apart from what it takes for something that was hardly
 * meant: a time without a date (today), `1,5` as fifteen, `2.5f` as a number.
 */
class Texts(
    zone: ZoneId,
    locale: Locale,
    dateFormat: Option[String],
    timestampFormat: Option[String],
    ntzFormat: Option[String]) {
  private lazy val timestamps = TimestampFormatter(
    timestampFormat, zone, locale, LegacyDateFormats.FAST_DATE_FORMAT, isParsing = true)
  private lazy val ntzs = TimestampFormatter(
    ntzFormat, zone, LegacyDateFormats.FAST_DATE_FORMAT, isParsing = true, forTimestampNTZ = true)
  private lazy val dates =
    DateFormatter(dateFormat, locale, LegacyDateFormats.FAST_DATE_FORMAT, isParsing = true)
  private lazy val foreignDecimals = ExprUtils.getDecimalParser(locale)

  def timestamp(text: String): Long = {
    dated(text, timestampFormat, TimestampType)
    parsed(text, TimestampType)(timestamps.parse(text))
  }

  def ntz(text: String): Long = {
    dated(text, ntzFormat, TimestampNTZType)
    parsed(text, TimestampNTZType)(ntzs.parseWithoutTimeZone(text, allowTimeZone = false))
  }

  def date(text: String): Int = parsed(text, DateType)(dates.parse(text))

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

  private def number(text: String): BigDecimal =
    if (locale != Locale.US) foreignDecimals(text)
    else if (text.indexOf(',') < 0) new BigDecimal(text)
    else if (Texts.Grouped.matches(text)) new BigDecimal(text.replace(",", ""))
    else throw new NumberFormatException(text)

  /** Spark takes a time of day for one of the day on which it is read. */
  private def dated(text: String, format: Option[String], wanted: DataType): Unit =
    if (format.isEmpty && Texts.TimeOfDay.findPrefixOf(text).isDefined) {
      throw Malformed.kind(Texts.quoted(text), wanted)
    }

  private def parsed[T](text: String, wanted: DataType)(parse: => T): T =
    try parse catch { case NonFatal(_) => throw Malformed.kind(Texts.quoted(text), wanted) }
}

object Texts {
  private val Grouped = "[+-]?[0-9]{1,3}(,[0-9]{3})+(\\.[0-9]*)?".r
  private val TimeOfDay = "\\s*T?[0-9]{1,2}:|\\s*T".r

  def quoted(text: String): String = "\"" + Malformed.shown(text) + "\""

  /** A number in its column's scale, rounded half up; one with too many digits is malformed. */
  def fitting(number: BigDecimal, text: => String, wanted: DecimalType): Decimal = {
    // Before anything is rescaled: 1e999999999 has as many digits, written out.
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
