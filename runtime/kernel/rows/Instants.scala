package org.apache.spark.sql.streamc

import java.math.BigInteger
import java.time.Instant

import com.fasterxml.jackson.core.JsonParser

import org.json4s.JsonAST.{JObject, JString, JValue}

import org.apache.spark.util.AccumulatorV2

/**
 * Numbers as instants: units since the beginning of 1970, negative before it.
 *
 * Fractions of a microsecond are rounded towards the past, as in texts. If the source does not name
 * its unit, numbers are seconds, and the first one that is an unlikely instant is `odd`.
 */
class Instants(unit: Option[String]) {
  private val name = unit.getOrElse(Instants.Seconds)
  private val (times, parts) = Instants.Units(name)

  /** A number for which the source should name the unit. */
  var odd: Option[OddInstant] = None

  /** The integer at a parser's position, in a column, as microseconds. Throws Malformed. */
  def of(p: JsonParser, column: String): Long = {
    val micros =
      if (p.getNumberType == JsonParser.NumberType.BIG_INTEGER) large(p.getBigIntegerValue)
      else if (times == 1) Math.floorDiv(p.getLongValue, parts)
      else {
        val number = p.getLongValue
        val most = Long.MaxValue / times
        if (number > most || number < -most) large(BigInteger.valueOf(number)) else number * times
      }
    if (unit.isEmpty && odd.isEmpty && (micros >= Instants.Late || micros < Instants.Early)) {
      odd = Some(OddInstant(column, p.getLongValue))
    }
    micros
  }

  /** Digits, with an optional sign, as microseconds; for a source that names its unit. */
  def of(digits: String): Long = {
    if (digits.length > Instants.Longest) throw beyond(digits)
    large(new BigInteger(digits))
  }

  private def large(number: BigInteger): Long = {
    val product = number.multiply(BigInteger.valueOf(times))
    val Array(cut, rest) = product.divideAndRemainder(BigInteger.valueOf(parts))
    val micros = if (rest.signum < 0) cut.subtract(BigInteger.ONE) else cut
    if (micros.bitLength > 63) throw beyond(number.toString)
    micros.longValue
  }

  private def beyond(digits: String): Malformed =
    new Malformed(s"${Malformed.shown(digits)}, which as $name does not fit TIMESTAMP")
}

object Instants {
  private val Seconds = "seconds"

  /** How many digits a number may have; reading more takes time out of proportion. */
  private val Longest = 1000

  /** How many microseconds make one unit, and how many units make one microsecond. */
  private val Units = Map(
    Seconds -> (1000000L, 1L), "millis" -> (1000L, 1L), "micros" -> (1L, 1L), "nanos" -> (1L, 1000L))

  /** The beginnings of the years 1 and 3000. */
  private val Early = micros("0001-01-01T00:00:00Z")
  private val Late = micros("3000-01-01T00:00:00Z")

  private def micros(at: String): Long = Instant.parse(at).getEpochSecond * 1000000
}

/** A number in a column that, in seconds, is an instant outside the years 1 to 2999. */
case class OddInstant(column: String, number: Long) {
  def json: JValue = JObject(
    "column" -> JString(column),
    "number" -> JString(number.toString),
    "instant" -> JString(Instant.ofEpochSecond(number).toString))
}

/** The first odd instant that was found. */
final class OddInstants extends AccumulatorV2[OddInstant, Option[OddInstant]] {
  private var found: Option[OddInstant] = None

  override def add(one: OddInstant): Unit = synchronized { found = found.orElse(Some(one)) }
  override def merge(other: AccumulatorV2[OddInstant, Option[OddInstant]]): Unit =
    other.value.foreach(add)
  override def value: Option[OddInstant] = synchronized(found)
  override def isZero: Boolean = value.isEmpty
  override def reset(): Unit = synchronized { found = None }
  override def copy(): OddInstants = {
    val other = new OddInstants
    other.merge(this)
    other
  }
}
