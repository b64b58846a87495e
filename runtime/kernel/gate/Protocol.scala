package org.apache.spark.sql.streamc

import scala.collection.immutable.SortedMap

/**
 * The protocol of epochs and barriers: which epoch may open, when a barrier is reached, what the
 * coordinator does about it, when a run is over.
 *
 * It is an immutable value; each transition returns a new one. Nothing here reads a clock, a file
 * or a source: [[Gate]] reports what has happened and carries out what is decided. So all its
 * interleavings can be explored (`tests/protocol/`), and what is explored is what runs.
 *
 * `last` is the newest epoch of the log and `done` what each query has committed. `settling` is an
 * epoch of an earlier run that one more has to follow to settle it, or -1. `recorded` is the epoch
 * of the newest barrier on record in this generation, or -1; `base` the epoch from which epochs are
 * counted while there is none. `tried` is the epoch of the last barrier that was attempted,
 * recorded or not. `failures` counts consecutive failed barriers.
 */
final case class Protocol(
    rules: Rules,
    last: Last,
    done: SortedMap[String, Long],
    settling: Long,
    recorded: Long,
    base: Long,
    tried: Long,
    barrier: Barrier = Barrier.Idle,
    failures: Int = 0,
    ending: Ending = Ending.None,
    exhausted: Boolean = false,
    fenced: Boolean = false) {

  def slowest: Long = done.values.min

  def allDone: Boolean = slowest >= last.number

  /** Whether all results of the input so far are out once the last epoch is committed. */
  def settled: Boolean = last.number != settling && (!rules.settles || !last.rows)

  /** Whether the last epoch is a barrier on record, after which nothing has happened. */
  def covered: Boolean = allDone && settled && recorded == last.number

  /** Whether more consecutive barriers have failed than are tolerated. */
  def broken: Boolean = failures > rules.tolerated

  def caughtUp: Boolean = ending == Ending.CaughtUp && exhausted && allDone && settled

  /**
   * Whether to wait for slow sources. In a run until caught up, results must not depend on how fast
   * a source was: an epoch in between would make rows late that are not.
   */
  def patient: Boolean = ending == Ending.CaughtUp && !exhausted

  /** Whether no more epochs with input will open. */
  def closing: Boolean = ending match {
    case Ending.Hold | Ending.Drain => true
    case Ending.CaughtUp => exhausted
    case Ending.None => false
  }

  /** Whether the run has ended, with a last barrier. */
  def over: Boolean = covered && closing && (ending != Ending.Drain || last.drain)

  /** A query has committed an epoch; one that is already known changes nothing. */
  def finished(query: String, epoch: Long): Protocol =
    if (epoch <= done(query)) this else copy(done = done.updated(query, epoch)).reached

  /** The open epoch that a query has to run next, if any. */
  def next(query: String): Option[Long] = Some(done(query) + 1).filter(_ <= last.number)

  /**
   * Whether an epoch may follow the last one, given what is known of the input.
   *
   * A requested barrier comes before input; input comes before an epoch that settles. If no barrier
   * can be recorded, input stops, since Spark would delete the files that earlier barriers depend
   * on.
   */
  def opening(input: Input): Either[Wait, Last] = {
    val following = last.copy(number = last.number + 1, rows = false)
    val known = if (ending == Ending.CaughtUp && exhausted) Input.Nothing else input
    if (fenced) Left(Wait.Fenced)
    else if (slowest <= last.number - rules.inFlight) Left(Wait.Queries)
    else if (ending == Ending.Drain && !last.drain)
      if (allDone) Right(following.copy(drain = true)) else Left(Wait.Queries)
    else if (barrier == Barrier.Wanted) if (settled) Left(Wait.Queries) else Right(following)
    else if (ending == Ending.Hold || ending == Ending.Drain) Left(Wait.Ending)
    else if (outran(rules.most + rules.margin)) Left(Wait.Record)
    else known match {
      case Input.Fresh => Right(following.copy(rows = true))
      case Input.Nothing if !settled => Right(following)
      case Input.Tick if !settled || ending != Ending.CaughtUp => Right(following)
      case Input.Unknown => Left(Wait.Sources)
      case _ => Left(Wait.Input)
    }
  }

  /** Whether the sources have to be asked before an epoch can open. */
  def asks: Boolean = waits == Wait.Sources

  /** The epoch is in the log: from now on queries may plan it. */
  def opened(epoch: Last): Protocol = {
    require(epoch.number == last.number + 1, s"epoch ${epoch.number} does not follow ${last.number}")
    copy(last = epoch).pressed.reached
  }

  /** The sources were asked and have nothing new; a run until caught up is then complete. */
  def nothingNew: Protocol = copy(exhausted = ending == Ending.CaughtUp)

  /** Requests a barrier: the next settled epoch that all queries have finished. */
  def request: Protocol =
    if (barrier != Barrier.Idle || covered) this else copy(barrier = Barrier.Wanted).reached

  /** The barrier that was reached has been recorded, or given up. */
  def taken(epoch: Long, record: Boolean): Protocol = {
    require(barrier == Barrier.Reached(epoch), s"epoch $epoch is not the barrier that was reached")
    copy(
      barrier = Barrier.Idle,
      tried = epoch,
      recorded = if (record) epoch else recorded,
      failures = if (record) 0 else failures + 1).pressed.reached
  }

  /** A barrier has taken too long. It is still awaited; the attempt has failed. */
  def expired: Protocol = copy(failures = failures + 1)

  /**
   * Ends the run: after the input that exists, without more input, or with all windows out. A
   * stronger way to end replaces a weaker one; a request is never withdrawn.
   */
  def end(how: Ending): Protocol = if (how.rank <= ending.rank) this else copy(ending = how).reached

  /** Another job owns the state: nothing more may be written to it. */
  def fence: Protocol = copy(fenced = true)

  /**
   * What the coordinator does now. `due` is whether it is time for a barrier, `late` whether one
   * has been awaited too long.
   */
  def act(due: Boolean, late: Boolean): Act = barrier match {
    case _ if fenced || broken => Act.Rest
    case Barrier.Reached(epoch) => Act.Record(epoch)
    case Barrier.Wanted => if (late) Act.Expire else Act.Rest
    case Barrier.Idle => if (due && !covered) Act.Request else Act.Rest
  }

  /** What has to happen before an epoch can follow the last one. */
  def waits: Wait = opening(Input.Unknown).fold(identity, _ => Wait.Queries)

  private def outran(epochs: Long): Boolean =
    last.number + 1 - (if (recorded < 0) base else recorded) > epochs

  /** Many epochs in a short time make a barrier due. */
  private def pressed: Protocol =
    if (barrier == Barrier.Idle && last.number - tried >= rules.most) copy(barrier = Barrier.Wanted)
    else this

  private def reached: Protocol =
    if (barrier == Barrier.Wanted && allDone && settled) copy(barrier = Barrier.Reached(last.number))
    else this
}

object Protocol {
  /**
   * The start of a run, from what earlier ones have left: the end of the log, what each query has
   * committed, and the epoch of the newest barrier of this generation, or -1.
   *
   * An epoch that an earlier run has finished after that barrier is followed by one that settles,
   * since nothing is known of that run but its files.
   */
  def begin(rules: Rules, last: Last, done: SortedMap[String, Long], recorded: Long): Protocol = {
    val base = if (recorded < 0) last.number else recorded
    val settling = if (last.number > 0 && last.number != recorded) last.number else -1L
    Protocol(rules, last, done, settling, recorded, base, tried = base).pressed
  }
}

/**
 * The limits of a run: how many epochs the fastest query may be ahead of the slowest; whether the
 * results of an epoch come out in the next one; the epochs after a barrier that make another due
 * (`most`), the further ones that may open until that is recorded (`margin`); the consecutive
 * failures that are tolerated.
 */
final case class Rules(inFlight: Int, settles: Boolean, most: Long, margin: Long, tolerated: Int)

/** The newest epoch: whether it has input, whether the watermark moves past everything in it. */
final case class Last(number: Long, rows: Boolean, drain: Boolean)

/** The barrier in progress: none, one that is wanted, or an epoch that can be recorded. */
sealed trait Barrier

object Barrier {
  case object Idle extends Barrier
  case object Wanted extends Barrier
  final case class Reached(epoch: Long) extends Barrier
}

/** How a run is to end. */
sealed abstract class Ending(val rank: Int)

object Ending {
  case object None extends Ending(0)
  case object CaughtUp extends Ending(1)
  case object Hold extends Ending(2)
  case object Drain extends Ending(3)
}

/**
 * What is known of the input: something new; nothing, and an epoch may settle; nothing, and it is
 * time for an epoch without input; unknown, or not the time.
 */
sealed trait Input

object Input {
  case object Fresh extends Input
  case object Nothing extends Input
  case object Tick extends Input
  case object Unknown extends Input
}

/** Why no epoch opens. */
sealed abstract class Wait(val text: String)

object Wait {
  case object Queries extends Wait("queries")
  case object Sources extends Wait("sources")
  case object Input extends Wait("input")
  case object Record extends Wait("record")
  case object Ending extends Wait("ending")
  case object Fenced extends Wait("fenced")
}

/** What the coordinator has to do. */
sealed trait Act

object Act {
  case object Rest extends Act
  case object Request extends Act
  case object Expire extends Act
  final case class Record(epoch: Long) extends Act
}
