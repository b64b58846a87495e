package org.apache.spark.sql.streamc

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.apache.spark.TaskContext
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Projection, UnsafeProjection}
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.{ImplicitGroupingKeyTracker, StatefulProcessorHandleImpl, StatefulProcessorHandleState}
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryCheckpointMetadata
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.{LongAccumulator, SerializableConfiguration}

/**
 * Replaces the state that a checkpoint's first batch has left in its stores.
 *
 * The query must not run. Rows have as many partitions as the operator, each row in its own. This
 * works with any of Spark's providers; one that logs changes is made to write a whole version at
 * once, which the query then loads without replaying it row by row.
 */
object StateWriter {
  /** The version before the one that the first batch of a query leaves. */
  private val Empty = 0L

  private val RocksDb = "spark.sql.streaming.stateStore.rocksdb"

  /**
   * Rows (key, value) as the store has them. `prefix` is the number of key columns by which a store
   * can be scanned, 0 for all or nothing. Returns the number of rows written.
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
    val target = new Target(session, checkpoint, operator, store, key, value, spec, families = false)
    each(target, Seq(rows)) { (found, state) =>
      val (toKey, toValue) = (UnsafeProjection.create(key), UnsafeProjection.create(value))
      count(found) { row =>
        state.put(
          toKey(row.getStruct(0, key.length)).copy(), toValue(row.getStruct(1, value.length)).copy())
      }
    }
  }

  /**
   * Writes the initial state of a frame's program, see [[InitialState]], in frames that are written
   * one after the other; elements of a list come in their order. Returns the number of rows
   * written.
   */
  def begin(
      session: SparkSession,
      checkpoint: String,
      operator: Long,
      frame: DataFrame,
      rows: java.util.List[DataFrame]): Long = {
    val process = Keyed.process(frame)
    val keys = process.program.stateKeys
    val nothing = StructType.fromDDL("__dummy__ STRING")
    val target = new Target(session, checkpoint, operator, StateStoreId.DEFAULT_STORE_NAME, keys,
      nothing, NoPrefixKeyStateEncoderSpec(keys), families = true)
    val mode = process.program.timeMode
    val encoder = RowEncoders.of(keys).asInstanceOf[ExpressionEncoder[Any]]
    each(target, rows.toArray(Array.empty[DataFrame]).toSeq) { (found, state) =>
      // Otherwise tasks of one process share these objects, and each has its own store.
      val own = process.copyWith(process.counts)
      val handle = new StatefulProcessorHandleImpl(
        state, UUID.randomUUID(), encoder, mode, false, None, None, Map.empty)
      own.setHandle(handle)
      own.init(OutputMode.Append(), mode)
      handle.setHandleState(StatefulProcessorHandleState.INITIALIZED)
      val key: Projection = UnsafeProjection.create(keys)
      count(found) { row =>
        ImplicitGroupingKeyTracker.setImplicitKey(key(row))
        own.begin(row)
        ImplicitGroupingKeyTracker.removeImplicitKey()
      }
    }
  }

  private def count(rows: Iterator[InternalRow])(put: InternalRow => Unit): Long = {
    var found = 0L
    rows.foreach { row =>
      put(row)
      found += 1
    }
    found
  }

  private def each(target: Target, frames: Seq[DataFrame])(
      fill: (Iterator[InternalRow], StateStore) => Long): Long = {
    val written = target.written
    val rows = frames.map(_.asInstanceOf[Dataset[Row]].queryExecution.toRdd)
      .reduce((before, after) => before.zipPartitions(after)(_ ++ _))
    rows.foreachPartition { found =>
      written.add(target.replaced(TaskContext.getPartitionId())(fill(found, _)))
    }
    written.value
  }

  /** The stores of one name of an operator, one per partition. */
  private class Target(
      @transient session: SparkSession,
      checkpoint: String,
      operator: Long,
      store: String,
      key: StructType,
      value: StructType,
      spec: KeyStateEncoderSpec,
      families: Boolean)
      extends Serializable {
    private val conf = {
      val settings = session.sessionState.conf.clone()
      OffsetSeqMetadata.setSessionConf(
        new StreamingQueryCheckpointMetadata(session, checkpoint).offsetLog.get(0).get.metadataOpt.get,
        settings)
      settings.setConfString(s"$RocksDb.changelogCheckpointing.enabled", "false")
      // It costs a lookup before each row; the query counts them when it loads the version.
      settings.setConfString(s"$RocksDb.trackTotalNumberOfRows", "false")
      StateStoreConf(settings)
    }
    private val hadoop = new SerializableConfiguration(session.sessionState.newHadoopConf())

    @transient lazy val written: LongAccumulator = session.sparkContext.longAccumulator

    def replaced(partition: Int)(fill: StateStore => Long): Long = {
      val id = StateStoreId(s"$checkpoint/state", operator, partition, store)
      forget(id)
      val provider = StateStoreProvider.createAndInit(StateStoreProviderId(id, UUID.randomUUID()),
        key, value, spec, families, conf, hadoop.value, families, None)
      try {
        val state = provider.getStore(Empty, None)
        // Closing a provider takes two minutes while a store of it is open.
        try {
          val count = fill(state)
          state.commit()
          count
        } finally if (!state.hasCommitted) state.abort()
      } finally provider.close()
    }

    /** Removes the versions of a store. */
    private def forget(id: StateStoreId): Unit = {
      val folder = id.storeCheckpointLocation()
      val files = folder.getFileSystem(hadoop.value)
      if (files.exists(folder)) {
        files.listStatus(folder).map(_.getPath).filter(_.getName != "_metadata")
          .foreach((path: Path) => files.delete(path, true))
      }
    }
  }
}
