package org.apache.spark.sql.streamc

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SQLExecution

/**
 * Jobs that have ended, of which Spark keeps all there is to know for ever.
 *
 * It lists the jobs of an execution until that ends. A job that is begun afterwards makes the list
 * anew: so it is with each `toLocalIterator`, whose jobs run when their rows are asked for.
 */
object EndedJobs {

  /** Lets Spark forget the jobs of executions that have ended; called after each batch. */
  def forget(batch: DataFrame): Unit = {
    val scheduler = batch.sparkSession.sparkContext.dagScheduler
    for ((execution, jobs) <- scheduler.activeQueryToJobs.asScala) {
      val hasEnded = SQLExecution.getQueryExecution(execution) == null
      if (hasEnded && jobs.asScala.forall(_.finished.forall(identity)))
        scheduler.cleanupQueryJobs(execution)
    }
  }
}
