package org.apache.spark.sql.streamc

import scala.collection.mutable

/**
 * A query at the gate: its position, and the epoch that its sources are being given.
 *
 * Spark asks the sources of a query one after the other. The first one asked in a round determines
 * the epoch for the others; a source that is asked a second time begins the next round.
 *
 * A query that is new in a job that has run before begins at the end of the log: its first batch is
 * the last epoch, without input, and the next batch has all input up to that epoch's end.
 */
private[streamc] class QueryTurn(val id: String, files: Files, checkpoint: String) {
  private val asked = mutable.Set.empty[GatedSource]
  private var decided: Option[Long] = None

  /** The epoch of its first batch, or -1; when it finished its last epoch. */
  var joined: Long = -1
  var doneAt: Long = 0

  /** The difference between the number of an epoch and that of its batch. */
  var base: Long = 0

  /** The last epoch that Spark's log has as committed; None for a query that is new. */
  def read(): Option[Long] = {
    val committed = batches("commits")
    val planned = batches("offsets")
    planned.lastOption.map { batch =>
      base = epochOf(batch) - batch
      joined = base
      committed.lastOption.map(_ + base).getOrElse(base - 1)
    }
  }

  /** Starts a new query at the log's last epoch; returns the epoch that counts as committed. */
  def join(last: Long): Long = {
    joined = last
    base = last
    last - 1
  }

  /** The epoch for a source; `fresh` gives it when the source begins a round. */
  def next(source: GatedSource, fresh: => Option[Long]): Option[Long] = {
    if (asked.isEmpty || asked(source)) {
      asked.clear()
      decided = fresh
    }
    asked += source
    decided
  }

  private def batches(kind: String): Seq[Long] =
    files.names(s"$checkpoint/$kind")
      .filter(_.matches("\\d+")).map(_.toLong).sorted

  private def epochOf(batch: Long): Long =
    QueryTurn.Logged.findFirstMatchIn(files.read(s"$checkpoint/offsets/$batch"))
      .map(_.group(1).toLong)
      .getOrElse(throw new IllegalStateException(
        s"$checkpoint/offsets/$batch does not say which epoch it is"))
}

private object QueryTurn {
  private val Logged = """"epoch":(\d+),"at":""".r
}

/** When to look for input: at a steady cadence, and never so often that looking costs much. */
private class Pace(cadence: Long) {
  @volatile private var nextSlot = 0L
  @volatile private var nextLook = 0L

  /** Whether the cadence allows an epoch; in milliseconds, 0 is as fast as possible. */
  def slot: Boolean = System.currentTimeMillis >= nextSlot

  def due: Boolean = slot && System.currentTimeMillis >= nextLook

  /** The slots are the multiples of the cadence, like those of Spark's triggers. */
  def opened(): Unit =
    if (cadence > 0) nextSlot = (System.currentTimeMillis / cadence + 1) * cadence

  /** Looks at the sources; at most a tenth of the time is spent looking. */
  def looking[T](look: => T): T = {
    val begun = System.nanoTime
    val found = look
    val took = (System.nanoTime - begun) / 1000000
    nextLook = System.currentTimeMillis + math.min(took * 9, Pace.Most)
    found
  }
}

/** When an epoch opens because time has passed, in milliseconds after the last one; 0 is never. */
private class Ticking(every: Long) {
  private var last = System.currentTimeMillis

  def due: Boolean = every > 0 && System.currentTimeMillis >= last + every

  def opened(): Unit = last = System.currentTimeMillis
}

private object Pace {
  private val Most = 1000L
}
