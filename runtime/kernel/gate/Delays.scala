package org.apache.spark.sql.streamc

import scala.util.Random

import org.json4s.DefaultFormats
import org.json4s.jackson.JsonMethods

/**
 * Waits at named steps of the protocol, for tests: `{"gate.open": 0.2}` waits up to 0.2 s there.
 *
 * Races need two events within milliseconds; waits at varying steps make them happen.
 */
private[streamc] class Delays(text: String) {
  private val seconds: Map[String, Double] =
    if (text == null || text.isEmpty) Map.empty
    else {
      implicit val formats: DefaultFormats.type = DefaultFormats
      JsonMethods.parse(text).extract[Map[String, Double]]
    }

  /** Called without a lock. */
  def at(step: String): Unit =
    if (seconds.nonEmpty) {
      seconds.get(step).foreach(most => Thread.sleep((Random.nextDouble() * most * 1000).toLong))
    }
}
