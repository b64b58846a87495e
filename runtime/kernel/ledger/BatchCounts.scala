package org.apache.spark.sql.streamc

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, StreamExecution}
import org.apache.spark.util.AccumulatorV2

/**
 * Counts by query and micro-batch: one reading or program serves all of them. Whatever runs outside
 * a query is not counted.
 */
final class BatchCounts(size: Int) extends AccumulatorV2[Seq[Long], Map[String, Seq[Long]]] {
  private var counts = Map.empty[String, Seq[Long]]
  @transient private lazy val batch: Option[String] = Option(TaskContext.get()).flatMap { task =>
    for {
      query <- Option(task.getLocalProperty(StreamExecution.QUERY_ID_KEY))
      number <- Option(task.getLocalProperty(MicroBatchExecution.BATCH_ID_KEY))
    } yield BatchCounts.key(query, number)
  }

  /** The counts of a batch of a query; they are removed. */
  def take(query: StreamExecution): Seq[Long] = synchronized {
    val key = BatchCounts.key(query)
    val found = counts.getOrElse(key, Seq.fill(size)(0L))
    counts -= key
    found
  }

  override def add(found: Seq[Long]): Unit = batch.foreach(add(_, found))

  private def add(key: String, found: Seq[Long]): Unit = synchronized {
    counts += key -> counts.get(key).map(_.zip(found).map { case (a, b) => a + b }).getOrElse(found)
  }

  override def merge(other: AccumulatorV2[Seq[Long], Map[String, Seq[Long]]]): Unit =
    other.value.foreach { case (key, found) => add(key, found) }

  override def value: Map[String, Seq[Long]] = synchronized(counts)
  override def isZero: Boolean = value.isEmpty
  override def reset(): Unit = synchronized { counts = Map.empty }
  override def copy(): BatchCounts = {
    val other = new BatchCounts(size)
    other.merge(this)
    other
  }
}

private object BatchCounts {
  /** Identifies the current batch of a query. */
  def key(query: StreamExecution): String =
    key(query.id.toString, query.lastExecution.currentBatchId.toString)

  def key(query: String, number: String): String = s"$query/$number"
}
