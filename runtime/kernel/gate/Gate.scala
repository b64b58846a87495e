package org.apache.spark.sql.streamc

import java.time.Instant
import java.util.{Map => JavaMap, UUID}
import java.util.concurrent.ConcurrentHashMap

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.connector.read.streaming.{Offset => StreamOffset}

/**
 * Admits the same input to all queries of a job, one epoch at a time.
 *
 * An epoch is one micro-batch of every query. The position of each source at its end is decided
 * once, written to the log of epochs, and then given to every query that asks. The next epoch opens
 * when all queries have finished the last one, or when the slowest is fewer than `inFlight` epochs
 * behind.
 *
 * Epoch 0 has no input. Spark's own batches without data are off: where they would be needed,
 * because a watermark has moved and there is no more input, the gate opens an epoch without input
 * for all queries. After it nothing is outstanding: results depend on the input so far, not on how
 * it was cut. Only such a settled epoch can be a barrier. While timers of processing time are
 * pending, an epoch without input opens at intervals.
 *
 * [[Protocol]] decides what may happen when; this class carries it out, with the clock, the log and
 * the sources. The folder is that of a generation of the state. Calls come from the threads of the
 * queries, from the driver's own, and from the one that asks the sources. None waits for a source.
 */
class Gate(session: SparkSession, folder: String, settings: JavaMap[String, String]) {
  private val id = UUID.randomUUID.toString
  private val files = new Files(session)
  private val log = new EpochLog(files, s"$folder/epochs")
  private val reads = new Reads(session, id, s"$folder/sources")
  private val queries = mutable.LinkedHashMap.empty[String, QueryTurn]
  private val pace = new Pace(settings.get("cadence").toLong)
  private val ticks = new Ticking(settings.get("ticks").toLong)
  private val delays = new Delays(settings.get("delays"))
  private val asking = new Asking(session, this, () => move(identity))
  private val rules = Rules(
    inFlight = settings.get("epochs_in_flight").toInt,
    settles = settings.get("settles").toBoolean,
    most = settings.get("epochs_between_barriers").toLong,
    margin = settings.get("epochs_beyond").toLong,
    tolerated = settings.get("failures_tolerated").toInt)

  private var protocol: Protocol = _
  private var movedAt = System.currentTimeMillis
  @volatile private var shown = "{}"

  /** The frame of a query with every read of a source behind this gate. */
  def wrap(frame: DataFrame, query: String): DataFrame = {
    queries(query) = new QueryTurn(query, files, s"$folder/queries/$query")
    val dataset = frame.asInstanceOf[Dataset[_]]
    val gated = EpochInstant.in(reads.gate(dataset.queryExecution.analyzed, query))
    Dataset.ofRows(dataset.sparkSession, gated).asInstanceOf[Dataset[Row]]
  }

  /**
   * Reads the log and continues from its end; then the queries may start. `barrier` is the epoch of
   * the newest barrier, or -1.
   */
  def open(barrier: Long): Unit = {
    val committed = queries.map { case (query, turn) => query -> turn.read() }
    log.read(committed.values.map(_.getOrElse(Long.MaxValue)).min)
    if (log.last.isEmpty) log.add(Epoch(0, cuts(SortedMap.empty, _ => null), rows = false, drain = false))
    val last = log.last.get
    val done = committed.map { case (query, at) =>
      query -> at.getOrElse(queries(query).join(last.number))
    }
    reads.open()
    last.cuts.foreach { case (source, at) => if (at != null) reads.resume(source, at) }
    synchronized {
      protocol = Protocol.begin(rules, lastOf(last), SortedMap.from(done), barrier)
      Gates.add(id, this)
      move(identity)
    }
  }

  /** File sources that now read another folder, as JSON; see [[MovedFiles]]. */
  def moved: String = JsonMethods.compact(JArray(reads.moved.toList))

  /** Reads the input that exists now and nothing that arrives later. */
  def untilCaughtUp(): Unit = {
    reads.positions.foreach { case (source, inner) => inner.limit(cut(log.last.get.cuts, source)) }
    change(_.end(Ending.CaughtUp))
  }

  /** Opens no more epochs with input; one that settles still opens. */
  def hold(): Unit = change(_.end(Ending.Hold))

  /** Adds an epoch in which all watermarks pass every row. */
  def drain(): Unit = change(_.end(Ending.Drain))

  /** Opens no more epochs at all: another job owns the state. */
  def fence(): Unit = change(_.fence)

  /**
   * What the coordinator does now, see [[Protocol.act]]: `rest`, or the number of an epoch to
   * record; `failed` for an attempt that has taken too long.
   */
  def coordinate(due: Boolean, late: Boolean): String = {
    delays.at("gate.coordinate")
    synchronized {
      protocol.act(due, late) match {
        case Act.Rest => "rest"
        case Act.Record(epoch) => epoch.toString
        case Act.Request => change(_.request); "rest"
        case Act.Expire => change(_.expired); "failed"
      }
    }
  }

  /** The barrier that was reached has been recorded, or given up. */
  def taken(epoch: Long, recorded: Boolean): Unit = {
    delays.at("gate.taken")
    synchronized {
      move(_.taken(epoch, recorded))
    }
  }

  /**
   * Input before this epoch will never be read again: sources forget it when they next can. Returns
   * why the last attempt failed, or null.
   */
  def release(epoch: Long): String = synchronized(asking.release {
    val old = files.names(s"$folder/epochs")
      .filter(name => name.matches("\\d+\\.json") && name.stripSuffix(".json").toLong < epoch)
      .sorted
    val passed = old.map(name => s"$folder/epochs/$name")
    passed.foreach { path =>
      Epoch.of(files.read(path), path).cuts.foreach { case (source, at) => reads.release(source, at) }
    }
    files.delete(passed.asJava)
  })

  /** The gate's status as JSON; never waits. */
  def status: String = shown

  def close(): Unit = {
    Gates.remove(id)
    asking.stop()
    reads.stop()
  }

  private[streamc] def source(query: String, read: String): GatedSource =
    reads.source(this, query, read)

  /** The last epoch that every query has finished. */
  private[streamc] def finished: Long = synchronized(protocol.slowest)

  /** The last epoch that a query has finished. */
  private[streamc] def finished(query: String): Long = synchronized(protocol.done(query))

  /** When an epoch was opened; one that is no longer in the log is never computed again. */
  private[streamc] def openedAt(epoch: Long): Instant =
    synchronized(log.get(epoch).map(_.openedAt).getOrElse(Instant.EPOCH))

  /** The cut of an epoch that is in the log, as JSON. */
  def epoch(number: Long): String = synchronized(log.get(number).map(Epoch.text).orNull)

  /**
   * The position up to which a source of a query may read next; its current one if there is no new
   * epoch.
   */
  private[streamc] def admit(query: String, source: GatedSource, start: StreamOffset): StreamOffset = {
    delays.at("gate.admit")
    synchronized {
      val turn = queries(query)
      val committed = EpochOffset.of(start).epoch
      if (committed > protocol.done(query)) {
        turn.doneAt = System.currentTimeMillis
        move(_.finished(query, committed))
      }
      val next = turn.next(source, decide(query))
      next.map(n => offset(turn, source.name, n)).getOrElse(start)
    }
  }

  private def offset(turn: QueryTurn, source: String, number: Long): EpochOffset = {
    val epoch = log.get(number).get
    if (epoch.drain) Watermarks.end(session)
    EpochOffset(number, if (number <= turn.joined) null else epoch.cuts.getOrElse(source, null))
  }

  private def decide(query: String): Option[Long] = protocol.next(query).orElse {
    if (protocol.asks && pace.due && asking.since == 0 && asking.answer.isEmpty) ask()
    // Others may have held the lock while the sources were asked.
    protocol.next(query).orElse(protocol.opening(input).toOption.map(follow))
  }

  private def ask(): Unit = {
    val from = log.last.get.cuts
    asking.ask {
      delays.at("gate.ask")
      pace.looking(cuts(from, source => reads.positions(source).latest(cut(from, source)).orNull))
    }
    show()
  }

  private def input: Input = asking.answer match {
    case Some(found) if isFresh(found) => Input.Fresh
    case Some(_) =>
      asking.used()
      change(_.nothingNew)
      quiet
    case None if !pace.slot || pace.due && (!asking.slow || protocol.patient) => Input.Unknown
    case None => quiet
  }

  private def quiet: Input = if (ticks.due) Input.Tick else Input.Nothing

  private def isFresh(found: SortedMap[String, String]): Boolean =
    found.exists { case (source, at) => at != log.last.get.cuts.getOrElse(source, null) }

  private def follow(next: Last): Long = {
    val at = if (next.rows) asking.answer.get else log.last.get.cuts
    log.add(Epoch(next.number, at, next.rows, next.drain))
    if (next.rows) {
      asking.used()
      pace.opened()
    }
    ticks.opened()
    move(_.opened(next))
    log.trim(protocol.slowest)
    next.number
  }

  private def cuts(last: SortedMap[String, String], at: String => String): SortedMap[String, String] =
    SortedMap(reads.names.map { source =>
      // A source that reports no position stays where it is.
      source -> Option(at(source)).orElse(cut(last, source)).orNull
    }: _*)

  private def cut(last: SortedMap[String, String], source: String): Option[String] =
    Option(last.getOrElse(source, null))

  private def lastOf(epoch: Epoch): Last = Last(epoch.number, epoch.rows, epoch.drain)

  private def change(transition: Protocol => Protocol): Unit = synchronized {
    protocol = transition(protocol)
    show()
  }

  /** Progress in what the run is for: an epoch, an answer, a barrier. */
  private def move(transition: Protocol => Protocol): Unit = {
    movedAt = System.currentTimeMillis
    change(transition)
  }

  private def show(): Unit = shown = GateStatus.text(protocol, queries.values.toSeq, movedAt, asking.since)
}

/** The gates of this process; a source finds its own by the id in its options. */
private[streamc] object Gates {
  private val open = new ConcurrentHashMap[String, Gate]

  def add(id: String, gate: Gate): Unit = open.put(id, gate)

  def remove(id: String): Unit = open.remove(id)

  def of(id: String): Gate = Option(open.get(id))
    .getOrElse(throw new IllegalStateException("the run of this query has ended"))
}
