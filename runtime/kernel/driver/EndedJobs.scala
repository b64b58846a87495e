package org.apache.spark.sql.streamc

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SQLExecution

/**
 * Drops Spark's records of jobs that have ended, which it would keep for ever.
 *
 * Spark lists the jobs of an execution until that ends. A job that starts later recreates the list,
 * as each `toLocalIterator` does, whose jobs run when its rows are requested.
 */
object EndedJobs {

  /** Lets Spark forget the jobs of ended executions; called after each batch. */
  def forget(batch: DataFrame): Unit = {
    val scheduler = batch.sparkSession.sparkContext.dagScheduler
    for ((execution, jobs) <- scheduler.activeQueryToJobs.asScala) {
      val hasEnded = SQLExecution.getQueryExecution(execution) == null
      if (hasEnded && jobs.asScala.forall(_.finished.forall(identity)))
        scheduler.cleanupQueryJobs(execution)
    }
  }
}
