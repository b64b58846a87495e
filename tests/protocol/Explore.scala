package org.apache.spark.sql.streamc

import scala.collection.mutable
import scala.util.{Failure, Success, Try}

/**
 * Explores all worlds that can come about, and says what is wrong with the first that must not.
 *
 * Safety is checked by each step. Liveness: left to itself the job never goes in a circle, so it comes
 * to rest, and where it rests all input is read, nothing is asked for and not done, and all is covered
 * by a barrier.
 */
object Explore {
  private val Most = 6000000

  /** Each argument is a scenario: comma-separated numbers in the order of the parameters below. */
  def main(arguments: Array[String]): Unit = arguments.foreach { scenario =>
    val Array(inFlight, settles, most, margin, tolerated, barriers, interval, caughtUp, queries,
      arrivals, restarts, failures, late, rollbacks, ticks, endings) = scenario.split(",").map(_.toInt)
    val rules = Rules(inFlight, settles == 1, most, margin, tolerated)
    val setting = Setting(rules, barriers, interval, caughtUp == 1)
    val budget = Budget(arrivals, restarts, failures, late, rollbacks, ticks, endings)
    println(explore(World.first(setting, queries, budget)))
  }

  def explore(first: World): String = {
    val number = mutable.HashMap(first -> 0)
    val worlds = mutable.ArrayBuffer(first)
    val cause = mutable.ArrayBuffer(("", -1))
    val own = mutable.ArrayBuffer.empty[Array[Int]]
    var resting = 0
    var at = 0
    while (at < worlds.size) {
      if (worlds.size > Most) return s"more than $Most worlds"
      val world = worlds(at)
      Try(Steps.of(world)) match {
        case Failure(broken) => return s"broken: ${broken.getMessage}\n${trace(cause, at)}"
        case Success(steps) =>
          val numbers = steps.map { step =>
            number.getOrElseUpdate(step.next, {
              worlds += step.next
              cause += ((step.name, at))
              worlds.size - 1
            })
          }
          own += steps.zip(numbers).collect { case (s, n) if !s.outside && n != at => n }.toArray
          if (own(at).isEmpty && world.run.isDefined) {
            resting += 1
            wrong(world, world.run.get).foreach { what =>
              return s"stalled: $what\n${trace(cause, at)}"
            }
          }
      }
      at += 1
    }
    circle(own).fold(s"${worlds.size} worlds, $resting at rest") { at =>
      s"goes in a circle\n${trace(cause, at)}"
    }
  }

  /** What is wrong with a world in which nothing happens by itself any more. */
  private def wrong(world: World, run: Run): Option[String] = {
    val p = run.protocol
    val there = if (world.setting.caughtUp) run.there else world.input
    if (p.ending != Ending.None || p.fenced) Some("a run that is to end does not")
    else if (there > world.log.last.read) Some("input is not read")
    else if (p.barrier != Barrier.Idle) Some(s"a barrier stays ${p.barrier}")
    else if (!p.covered) Some("what has happened is behind the last barrier")
    else None
  }

  /** A world that can come about again from itself by the job's own steps. */
  private def circle(own: mutable.ArrayBuffer[Array[Int]]): Option[Int] = {
    val before = new Array[Int](own.size)
    own.foreach(_.foreach(n => before(n) += 1))
    val free = mutable.Queue.from(before.indices.filter(before(_) == 0))
    var left = own.size
    while (free.nonEmpty) {
      left -= 1
      own(free.dequeue()).foreach { n =>
        before(n) -= 1
        if (before(n) == 0) free += n
      }
    }
    if (left == 0) None else before.indices.find(before(_) > 0)
  }

  private def trace(cause: mutable.ArrayBuffer[(String, Int)], from: Int): String = {
    val steps = Iterator.iterate(from)(cause(_)._2).takeWhile(_ > 0).map(cause(_)._1).toSeq.reverse
    steps.map("  " + _).mkString("\n")
  }
}
