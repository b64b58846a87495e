package org.apache.spark.sql.streamc

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Statistics}
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.storage.StorageLevel

/**
 * The rows of a micro-batch, as its sinks get them.
 *
 * Spark hands over a batch as a relation that declares how its rows are sorted. Where an aggregate
 * sorts, it declares a column that the rows do not have, and any second instance of the relation (a
 * cache, a join with itself) fails with "key not found". So sinks get a relation that declares no
 * order; its rows come in the order in which the query produces them.
 */
object Batches {

  /** The batch, computed each time that it is read. */
  def plain(batch: DataFrame): DataFrame = {
    val dataset = batch.asInstanceOf[Dataset[Row]]
    relation(dataset, rows(dataset), None)
  }

  /** The batch, computed completely and once. */
  def keep(batch: DataFrame): KeptBatch = {
    val dataset = batch.asInstanceOf[Dataset[Row]]
    val kept = rows(dataset).map(_.copy()).persist(StorageLevel.MEMORY_AND_DISK)
    try {
      val (count, bytes) = kept.aggregate((0L, 0L))(
        { case ((n, size), row) => (n + 1, size + bytesOf(row)) },
        { case ((n, size), (m, more)) => (n + m, size + more) })
      val frame =
        if (count > 0) relation(dataset, kept, Some(Statistics(bytes, Some(count))))
        else frameOf(dataset.sparkSession, LocalRelation(dataset.queryExecution.analyzed.output))
      new KeptBatch(frame, count, kept)
    } catch { case e: Throwable => kept.unpersist(); throw e }
  }

  private def rows(batch: Dataset[Row]): RDD[InternalRow] = batch.queryExecution.analyzed match {
    case LogicalRDD(_, rows, _, _, _, _) => rows
    case _ => batch.queryExecution.toRdd
  }

  private def relation(
      batch: Dataset[Row], rows: RDD[InternalRow], size: Option[Statistics]): DataFrame = {
    val output: Seq[Attribute] = batch.queryExecution.analyzed.output
    frameOf(batch.sparkSession, LogicalRDD(output, rows)(batch.sparkSession, size, None))
  }

  private def frameOf(session: SparkSession, plan: LogicalPlan): DataFrame =
    Dataset.ofRows(session, plan).asInstanceOf[Dataset[Row]]

  private def bytesOf(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow => unsafe.getSizeInBytes
    case other => 64L * other.numFields
  }
}

/**
 * A batch that executors keep until it is released: its number of rows, and the frame to read them
 * by.
 */
final class KeptBatch(val frame: DataFrame, val count: Long, rows: RDD[InternalRow]) {
  def release(): Unit = rows.unpersist()
}
