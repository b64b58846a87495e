package org.apache.spark.sql.streamc

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.apache.spark.TaskContext
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryCheckpointMetadata
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/**
 * Puts rows into a state store of a checkpoint in place of those that its first batch has left.
 *
 * The query must not run. Rows are (key, value) in the form that the store has them in, in as many
 * partitions as the operator has and each in its own. It works with any provider of Spark's, and needs
 * nothing of an operator but its stores.
 */
object StateWriter {
  /** What the first batch of a query leaves. */
  private val First = 1L

  /**
   * `prefix` is by how many columns of the key a store can be scanned, 0 for all or nothing. Returns
   * how many rows were written.
   */
  def replace(
      session: SparkSession,
      checkpoint: String,
      operator: Long,
      store: String,
      prefix: Int,
      rows: DataFrame): Long = {
    val key = rows.schema("key").dataType.asInstanceOf[StructType]
    val value = rows.schema("value").dataType.asInstanceOf[StructType]
    val spec =
      if (prefix > 0) PrefixKeyScanStateEncoderSpec(key, prefix) else NoPrefixKeyStateEncoderSpec(key)
    val settings = session.sessionState.conf.clone()
    OffsetSeqMetadata.setSessionConf(
      new StreamingQueryCheckpointMetadata(session, checkpoint).offsetLog.get(0).get.metadataOpt.get,
      settings)
    val (conf, root) = (StateStoreConf(settings), s"$checkpoint/state")
    val hadoop = new SerializableConfiguration(session.sessionState.newHadoopConf())
    val written = session.sparkContext.longAccumulator
    rows.asInstanceOf[Dataset[Row]].queryExecution.toRdd.foreachPartition { found =>
      val id = StateStoreId(root, operator, TaskContext.getPartitionId(), store)
      forget(id, hadoop)
      val provider = StateStoreProvider.createAndInit(
        StateStoreProviderId(id, UUID.randomUUID()), key, value, spec, false, conf, hadoop.value,
        false, None)
      try {
        val state = provider.getStore(First - 1, None)
        val (toKey, toValue) = (UnsafeProjection.create(key), UnsafeProjection.create(value))
        var count = 0L
        found.foreach { row =>
          state.put(
            toKey(row.getStruct(0, key.length)).copy(), toValue(row.getStruct(1, value.length)).copy())
          count += 1
        }
        state.commit()
        written.add(count)
      } finally provider.close()
    }
    written.value
  }

  /** Takes the versions of a store away. */
  private def forget(id: StateStoreId, hadoop: SerializableConfiguration): Unit = {
    val folder = id.storeCheckpointLocation()
    val files = folder.getFileSystem(hadoop.value)
    if (files.exists(folder)) {
      files.listStatus(folder).map(_.getPath).filter(_.getName != "_metadata")
        .foreach((path: Path) => files.delete(path, true))
    }
  }
}
