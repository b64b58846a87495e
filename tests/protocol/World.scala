package org.apache.spark.sql.streamc

import scala.collection.immutable.SortedMap

/**
 * Everything around the protocol that matters to it: what is durable, where each query is, what is still
 * to come from outside. One step is one thing that happens, and all that can happen next is explored.
 *
 * `log` has the epochs with the input that is read by their ends; `planned` and `commits` are Spark's
 * logs of each query;
 * `barriers` the epochs on record, oldest first. `input` is what has arrived, `asked` what the sources
 * are about to answer. `run` is None between two runs. A budget bounds what comes from outside.
 */
final case class World(
    setting: Setting,
    log: Vector[Logged],
    planned: SortedMap[String, Long],
    commits: SortedMap[String, Long],
    barriers: Vector[Long],
    input: Int,
    budget: Budget,
    run: Option[Run],
    generation: Int = 0,
    ended: Option[String] = None)

final case class Logged(epoch: Last, read: Int)

/** What a run keeps in memory. `writing` is a barrier whose manifest is on the disk and not reported,
  * `there` the input that was there when the run began, `began` the last epoch then, `retained` how many
  * batches Spark keeps in it. */
final case class Run(
    protocol: Protocol,
    queries: SortedMap[String, Doing],
    asked: Option[Int],
    answer: Option[Int],
    writing: Option[Long],
    there: Int,
    began: Long,
    retained: Long)

/** What a query is at: it asks the gate; it was given an epoch; Spark has logged that it does it. */
sealed trait Doing

object Doing {
  case object Asking extends Doing
  final case class Given(epoch: Long) extends Doing
  final case class Logged(epoch: Long) extends Doing
  final case class Committed(epoch: Long) extends Doing
}

/** How often what comes from outside may still come. */
final case class Budget(
    arrivals: Int,
    restarts: Int,
    failures: Int,
    late: Int,
    rollbacks: Int,
    ticks: Int,
    endings: Int)

/** A pipeline and its policy. From one barrier to the next there are at most `interval` epochs. */
final case class Setting(rules: Rules, barriers: Int, interval: Long, caughtUp: Boolean) {

  /** How many batches Spark keeps in a run that begins, as `runtime/plan/retention.py` says. */
  def retained(last: Long, kept: Seq[Long]): Long =
    (kept.reverse.zipWithIndex.map { case (barrier, newer) =>
      last - barrier + math.max(barriers - newer, 1) * interval
    } :+ (barriers + 1) * interval).max
}

final case class Step(name: String, next: World, outside: Boolean)

/** What must never be. */
final class Broken(message: String) extends RuntimeException(message)

object World {
  def first(setting: Setting, queries: Int, budget: Budget): World = {
    val names = (1 to queries).map(n => s"q$n")
    val fresh = World(
      setting,
      log = Vector(Logged(Last(0, rows = false, drain = false), 0)),
      planned = SortedMap(names.map(_ -> -1L): _*),
      commits = SortedMap(names.map(_ -> -1L): _*),
      barriers = Vector.empty,
      input = 0,
      budget,
      run = None)
    fresh.copy(run = Some(begin(fresh)))
  }

  /** Starts a run from what is durable, as `Gate.open` and Spark do. */
  def begin(world: World): Run = {
    val recorded = world.barriers.lastOption.getOrElse(-1L)
    val begun = Protocol.begin(world.setting.rules, world.log.last.epoch, world.commits, recorded)
    val told =
      if (world.log.last.epoch.drain) begun.end(Ending.Hold)
      else if (world.setting.caughtUp) begun.end(Ending.CaughtUp)
      else begun
    Run(
      protocol = told,
      // What Spark has logged and not committed it does again, and asks nobody.
      queries = world.commits.map { case (q, committed) =>
        q -> (if (world.planned(q) > committed) Doing.Logged(world.planned(q)) else Doing.Asking)
      },
      asked = None,
      answer = None,
      writing = None,
      there = world.input,
      began = world.log.last.epoch.number,
      retained = world.setting.retained(world.log.last.epoch.number, world.barriers))
  }
}
