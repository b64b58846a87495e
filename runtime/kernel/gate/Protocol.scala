package org.apache.spark.sql.streamc

import scala.collection.immutable.SortedMap

/**
 * The protocol of epochs and barriers: which epoch may open, when a barrier is reached, what the
 * coordinator has to do about it, when a run is over.
 *
 * It is a value, and each transition gives another one. Nothing here reads a clock, a file or a source:
 * [[Gate]] tells what has happened and carries out what is decided. So all interleavings of it can be
 * explored (`tests/protocol/`), and what is explored is what runs.
 *
 * `last` is the newest epoch of the log and `done` what each query has committed. `settling` is an epoch
 * of an earlier run after which one has to follow that settles it, or -1. `recorded` is the epoch of the
 * newest barrier on record in this generation, or -1; `base` the epoch from which epochs are counted
 * while there is none. `tried` is the epoch of the last barrier that was dealt with, recorded or not.
 * `failures` counts the barriers in a row that have failed.
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

  /** Whether all that the input so far gives is out once the last epoch is committed. */
  def settled: Boolean = last.number != settling && (!rules.settles || !last.rows)

  /** Whether the last epoch is a barrier on record, behind which nothing has happened. */
  def covered: Boolean = allDone && settled && recorded == last.number

  /** Whether more barriers in a row have failed than are tolerated. */
  def broken: Boolean = failures > rules.tolerated

  def caughtUp: Boolean = ending == Ending.CaughtUp && exhausted && allDone && settled

  /**
   * Whether slow sources are waited for. Where all that is there is taken, its results do not hang on
   * how fast it was: an epoch in between would have rows late that are not.
   */
  def patient: Boolean = ending == Ending.CaughtUp && !exhausted

  /** Whether no epoch with input will open any more. */
  def closing: Boolean = ending match {
    case Ending.Hold | Ending.Drain => true
    case Ending.CaughtUp => exhausted
    case Ending.None => false
  }

  /** Whether the run has come to its end, with a last barrier. */
  def over: Boolean = covered && closing && (ending != Ending.Drain || last.drain)

  /** A query has committed an epoch; one that is known already changes nothing. */
  def finished(query: String, epoch: Long): Protocol =
    if (epoch <= done(query)) this else copy(done = done.updated(query, epoch)).reached

  /** The open epoch that a query has to do next, if there is one. */
  def next(query: String): Option[Long] = Some(done(query) + 1).filter(_ <= last.number)

  /**
   * Whether an epoch may follow the last one, by what is known of the input.
   *
   * A barrier that is wanted comes before input; input comes before an epoch that settles. Where no
   * barrier gets on record input stops, since Spark would drop what the barriers before rest on.
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

  /** The sources were asked and have nothing new; of a run that takes what was there that is the end. */
  def nothingNew: Protocol = copy(exhausted = ending == Ending.CaughtUp)

  /** Asks for a barrier: the next settled epoch that all queries have finished. */
  def request: Protocol =
    if (barrier != Barrier.Idle || covered) this else copy(barrier = Barrier.Wanted).reached

  /** The barrier that was reached is on record, or given up. */
  def taken(epoch: Long, record: Boolean): Protocol = {
    require(barrier == Barrier.Reached(epoch), s"epoch $epoch is no barrier that was reached")
    copy(
      barrier = Barrier.Idle,
      tried = epoch,
      recorded = if (record) epoch else recorded,
      failures = if (record) 0 else failures + 1).pressed.reached
  }

  /** What was waited for has taken too long. It is waited for still; the attempt has failed. */
  def expired: Protocol = copy(failures = failures + 1)

  /**
   * Ends the run: after what is there, without more input, or with all windows out. A reason to end
   * outranks one that would come to it later; what has been asked is never taken back.
   */
  def end(how: Ending): Protocol = if (how.rank <= ending.rank) this else copy(ending = how).reached

  /** The state is another's now: nothing more may be written to it. */
  def fence: Protocol = copy(fenced = true)

  /**
   * What the coordinator does now. `due` is whether it is time for a barrier, `late` whether one has
   * been waited for too long.
   */
  def act(due: Boolean, late: Boolean): Act = barrier match {
    case _ if fenced || broken => Act.Rest
    case Barrier.Reached(epoch) => Act.Record(epoch)
    case Barrier.Wanted => if (late) Act.Expire else Act.Rest
    case Barrier.Idle => if (due && !covered) Act.Request else Act.Rest
  }

  /** Who is waited for before an epoch can follow the last one. */
  def waits: Wait = opening(Input.Unknown).fold(identity, _ => Wait.Queries)

  private def outran(epochs: Long): Boolean =
    last.number + 1 - (if (recorded < 0) base else recorded) > epochs

  /** Epochs that come fast bring their barriers with them. */
  private def pressed: Protocol =
    if (barrier == Barrier.Idle && last.number - tried >= rules.most) copy(barrier = Barrier.Wanted)
    else this

  private def reached: Protocol =
    if (barrier == Barrier.Wanted && allDone && settled) copy(barrier = Barrier.Reached(last.number))
    else this
}

object Protocol {
  /**
   * A run that begins, by what earlier ones have left: the end of the log, what each query has
   * committed, and the epoch of the newest barrier of this generation, or -1.
   *
   * An epoch that an earlier run has finished behind that barrier is followed by one that settles,
   * since nothing of that run is known but its files.
   */
  def begin(rules: Rules, last: Last, done: SortedMap[String, Long], recorded: Long): Protocol = {
    val base = if (recorded < 0) last.number else recorded
    val settling = if (last.number > 0 && last.number != recorded) last.number else -1L
    Protocol(rules, last, done, settling, recorded, base, tried = base).pressed
  }
}

/**
 * What a run goes by: how many epochs the fastest query may be ahead of the slowest; whether the results
 * of an epoch come out in the next one; the epochs after a barrier that bring another (`most`), the
 * further ones that may open until that is on record (`margin`); the failures in a row that are tolerated.
 */
final case class Rules(inFlight: Int, settles: Boolean, most: Long, margin: Long, tolerated: Int)

/** The newest epoch: whether it has input, and whether the watermark moves past everything in it. */
final case class Last(number: Long, rows: Boolean, drain: Boolean)

/** The barrier that is being taken: none, one that is wanted, or an epoch that can be recorded. */
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
 * What is known of the input: something new; nothing, and an epoch may settle; nothing, and it is time
 * for an epoch without input; not known, or not time.
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

/** What the coordinator is to do. */
sealed trait Act

object Act {
  case object Rest extends Act
  case object Request extends Act
  case object Expire extends Act
  final case class Record(epoch: Long) extends Act
}
