package org.apache.spark.sql.streamc

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
 * Admits the same input to all queries of a job, an epoch at a time.
 *
 * An epoch is one micro-batch of every query. Where each source stands at its end is decided once,
 * written to the log of epochs, and then given to whichever query asks. The next epoch opens when all
 * queries have finished the last one, or when the slowest is fewer than `inFlight` epochs behind.
 *
 * Epoch 0 has no input. Spark's own batches without data are off: where they would be needed, because
 * a watermark has moved and nothing more is there, the gate opens an epoch without input for all.
 * After it nothing is outstanding: results depend on the input so far, not on how it was cut. Only
 * such a settled epoch can be a barrier. Where timers of processing time wait, an epoch without input
 * opens every so often.
 *
 * The folder is that of a generation of the state. Calls come from the threads of the queries and from
 * the driver's own.
 */
class Gate(session: SparkSession, folder: String, settings: JavaMap[String, String]) {
  private val id = UUID.randomUUID.toString
  private val files = new Files(session)
  private val log = new EpochLog(files, s"$folder/epochs")
  private val reads = new Reads(session, id, s"$folder/sources")
  private val queries = mutable.LinkedHashMap.empty[String, QueryTurn]
  private val pace = new Pace(settings.get("cadence").toLong)
  private val inFlight = settings.get("epochs_in_flight").toInt
  private val settles = settings.get("settles").toBoolean
  private val most = settings.get("epochs_between_barriers").toLong
  private val ticks = new Ticking(settings.get("ticks").toLong)

  private var limited = false
  private var exhausted = false
  private var held = false
  private var draining = false
  private var wanted = false
  private var reached = -1L
  private var newest = -1L
  private var begun = -1L
  private var unsettled = -1L
  @volatile private var shown = "{}"

  /** The frame of a query with every read of a source behind this gate. */
  def wrap(frame: DataFrame, query: String): DataFrame = {
    queries(query) = new QueryTurn(query, files, s"$folder/queries/$query")
    val dataset = frame.asInstanceOf[Dataset[_]]
    val gated = reads.gate(dataset.queryExecution.analyzed, query)
    Dataset.ofRows(dataset.sparkSession, gated).asInstanceOf[Dataset[Row]]
  }

  /**
   * Reads the log and goes to where it ends; the queries may start then. `barrier` is the epoch of the
   * newest barrier, or -1: an epoch behind it that an earlier run has finished is followed by one that
   * settles, since nothing of that run is known but its files.
   */
  def open(barrier: Long): Unit = synchronized {
    val finished = queries.values.map(_.read()).toSeq
    log.read(finished.min)
    if (log.last.isEmpty) log.add(Epoch(0, cuts(_ => null), rows = false, drain = false))
    val last = log.last.get
    queries.values.foreach(_.join(last.number))
    reads.open()
    last.cuts.foreach { case (source, at) => if (at != null) reads.resume(source, at) }
    newest = if (barrier < 0) last.number else barrier
    begun = newest
    if (last.number > 0 && last.number != barrier) unsettled = last.number
    Gates.add(id, this)
    show()
  }

  /** Takes what is there now and nothing that comes later. */
  def untilCaughtUp(): Unit = synchronized {
    reads.positions.foreach { case (source, inner) => inner.limit(cut(source)) }
    limited = true
    show()
  }

  /** Asks for a barrier: the next settled epoch that all queries have finished. */
  def request(): Unit = synchronized {
    wanted = true
    look()
    show()
  }

  /** Opens no more epochs with input; one that settles, or a drain, still opens. */
  def hold(): Unit = synchronized {
    held = true
    show()
  }

  /** Lets an epoch follow in which all watermarks pass every row. */
  def drain(): Unit = synchronized {
    draining = true
    held = true
    show()
  }

  /**
   * The barrier that was reached is on record, or given up. Without one on record the gate closes after
   * a while: Spark would drop the batches of the barriers before.
   */
  def taken(epoch: Long, recorded: Boolean): Unit = synchronized {
    begun = epoch
    if (recorded) newest = epoch
    if (reached == epoch) reached = -1
    show()
  }

  /** Input before this epoch will never be read again. */
  def release(epoch: Long): Unit = synchronized {
    val old = files.names(s"$folder/epochs")
      .filter(name => name.matches("\\d+\\.json") && name.stripSuffix(".json").toLong < epoch)
      .sorted
    val passed = old.map(name => s"$folder/epochs/$name")
    passed.foreach { path =>
      Epoch.of(files.read(path), path).cuts.foreach { case (source, at) => reads.release(source, at) }
    }
    files.delete(passed.asJava)
  }

  /** How things stand, as JSON; never waits for a source. */
  def status: String = shown

  def close(): Unit = {
    Gates.remove(id)
    reads.stop()
  }

  private[streamc] def source(query: String, read: String): GatedSource =
    reads.source(this, query, read)

  /** The cut of an epoch that is in the log, as JSON. */
  def epoch(number: Long): String = synchronized(log.get(number).map(Epoch.text).orNull)

  /** What a source of a query may read up to next, or what it has if there is nothing yet. */
  private[streamc] def admit(
      query: String, source: GatedSource, start: StreamOffset): StreamOffset = synchronized {
    val turn = queries(query)
    if (turn.finished(EpochOffset.of(start).epoch)) {
      look()
      show()
    }
    val next = turn.next(source, decide(turn))
    next.map(n => offset(turn, source.name, n)).getOrElse(start)
  }

  private def offset(turn: QueryTurn, source: String, number: Long): EpochOffset = {
    val epoch = log.get(number).get
    if (epoch.drain) Drain.now(session)
    EpochOffset(number, if (number <= turn.joined) null else epoch.cuts.getOrElse(source, null))
  }

  private def decide(turn: QueryTurn): Option[Long] = {
    val next = turn.done + 1
    if (log.get(next).isDefined) Some(next)
    else if (next != log.last.get.number + 1 || slowest <= next - 1 - inFlight) None
    else following(next)
  }

  private def following(next: Long): Option[Long] = {
    val last = log.last.get
    if (!wanted && next - begun > most && allDone) wanted = true
    val settled = isSettled(last)
    val opened =
      if (draining) { if (!allDone || last.drain) None else Some(last.copy(next, rows = false, drain = true)) }
      else if (wanted && !settled) Some(last.copy(next, rows = false))
      else if (wanted || held || next - newest > 2 * most) None
      else input(next, last).orElse {
        if (!pace.slot || settled && (limited || !ticks.due)) None
        else Some(last.copy(next, rows = false))
      }
    opened.foreach { epoch =>
      log.add(epoch)
      log.trim(slowest)
      if (epoch.rows) pace.opened()
      ticks.opened()
      show()
    }
    opened.map(_.number)
  }

  private def input(next: Long, last: Epoch): Option[Epoch] =
    if (!(limited && !exhausted || pace.due)) None
    else {
      val found = pace.looking(cuts(source => reads.positions(source).latest(cut(source)).orNull))
      val fresh = found.exists { case (source, at) => at != last.cuts.getOrElse(source, null) }
      exhausted = limited && !fresh
      show()
      if (fresh) Some(Epoch(next, found, rows = true, drain = false)) else None
    }

  private def cuts(at: String => String): SortedMap[String, String] =
    SortedMap(reads.names.map { source =>
      // A source that has nothing more to say stays where it is.
      source -> Option(at(source)).orElse(cut(source)).orNull
    }: _*)

  private def cut(source: String): Option[String] =
    log.last.flatMap(epoch => Option(epoch.cuts.getOrElse(source, null)))

  private def isSettled(epoch: Epoch): Boolean =
    epoch.number != unsettled && (!settles || !epoch.rows)

  private def slowest: Long = queries.values.map(_.done).min

  private def allDone: Boolean = slowest >= log.last.get.number

  /** Whether the barrier that was asked for has been reached. */
  private def look(): Unit =
    if (wanted && reached < 0 && allDone && isSettled(log.last.get)) {
      reached = log.last.get.number
      wanted = false
    }

  private def show(): Unit = {
    val last = log.last.get
    shown = JsonMethods.compact(JObject(
      "epoch" -> JLong(last.number),
      "settled" -> JBool(isSettled(last)),
      "drained" -> JBool(last.drain),
      "all_done" -> JBool(allDone),
      "caught_up" -> JBool(limited && exhausted && allDone && isSettled(last)),
      "barrier" -> (if (reached < 0) JNull else JLong(reached)),
      "queries" -> JObject(queries.values.toList.map(q => q.id -> JObject(
        "done" -> JLong(q.done),
        "base" -> JLong(q.base),
        "done_at" -> JLong(q.doneAt))))))
  }
}

/** The gates of this process; a source finds its own by the id in its options. */
private[streamc] object Gates {
  private val open = new ConcurrentHashMap[String, Gate]

  def add(id: String, gate: Gate): Unit = open.put(id, gate)

  def remove(id: String): Unit = open.remove(id)

  def of(id: String): Gate = Option(open.get(id))
    .getOrElse(throw new IllegalStateException("the run of this query has ended"))
}
