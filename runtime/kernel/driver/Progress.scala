package org.apache.spark.sql.streamc

import org.apache.spark.sql.streaming.StreamingQuery

/** What a query has done since the last call. */
object Progress {
  /** The reports of the batches after `batch` that Spark still keeps, oldest first, as JSON. */
  def since(query: StreamingQuery, batch: Long): String =
    query.recentProgress.filter(_.batchId > batch).map(_.json).mkString("[", ",", "]")
}
