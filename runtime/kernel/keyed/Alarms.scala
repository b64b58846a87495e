package org.apache.spark.sql.streamc

import java.lang.reflect.Field

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TimerKeyEncoder
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.{ImplicitGroupingKeyTracker, StatefulProcessorHandleImpl}
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.timers.{TimerStateImpl, TimerStateUtils}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{StatefulProcessorHandle, TimeMode}
import org.apache.spark.sql.types.{DataType, NullType}

/**
 * Spark's timers with one entry per timer, ordered by instant.
 *
 * Spark keeps a second entry, by key, and looks it up before it writes or removes a timer, to see
 * whether it exists. A program has one timer per key and knows its instant, so it needs neither.
 */
private class Alarms(store: StateStore, mode: TimeMode, keys: ExpressionEncoder[Any])
    extends TimerStateImpl(store, mode, keys) {
  private val index = TimerStateUtils.getTimerStateVarNames(mode.toString)._2
  private val encoder = new TimerKeyEncoder(keys)
  private val nothing =
    UnsafeProjection.create(Array[DataType](NullType)).apply(InternalRow(null)).copy()

  private val settings = Alarms.settings()

  override def registerTimer(at: Long): Unit = SQLConf.withExistingConf(settings) {
    store.put(encoder.encodeSecIndexKey(key, at), nothing, index)
  }

  override def deleteTimer(at: Long): Unit = SQLConf.withExistingConf(settings) {
    store.remove(encoder.encodeSecIndexKey(key, at), index)
  }

  override def listTimers(): Iterator[Long] =
    throw new UnsupportedOperationException("the timers of a key are in its record")

  private def key: Any = ImplicitGroupingKeyTracker.getImplicitKeyOption.get
}

private[streamc] object Alarms {
  /**
   * The settings of a task, read once. Spark looks one of them up for each column of a timer that
   * it encodes, and rereads all of them to do so.
   */
  private def settings(): SQLConf = {
    val (found, asked) = (new SQLConf, SQLConf.TYPES_FRAMEWORK_ENABLED)
    val set = Option(TaskContext.get()).map(_.getLocalProperties.asScala.toMap).getOrElse(Map.empty)
    set.foreach { case (name, value) => if (name.startsWith("spark.")) found.setConfString(name, value) }
    // Its default is looked up in the environment each time.
    found.setConf(asked, found.getConf(asked))
    found
  }

  /** Makes a handle keep its timers this way; its processor must have timers. */
  def install(handle: StatefulProcessorHandle): Unit = handle match {
    case real: StatefulProcessorHandleImpl =>
      val timers = Internals.field(real, classOf[TimerStateImpl])
      val made = real.getClass.getDeclaredMethod(timers.getName)
      made.setAccessible(true)
      // It is created at its first use; created later, it would replace this one.
      made.invoke(real)
      timers.set(real, new Alarms(
        Internals.store(real),
        Internals.of(real, classOf[TimeMode]),
        Internals.of(real, classOf[ExpressionEncoder[Any]])))
    // The driver's, which only records what a processor will have.
    case _ =>
  }
}

/** What Spark's handle of a processor's state does not expose. */
private[streamc] object Internals {
  def store(handle: StatefulProcessorHandle): StateStore = of(handle, classOf[StateStore])

  def of[T](handle: StatefulProcessorHandle, kind: Class[T]): T =
    kind.cast(field(handle, kind).get(handle))

  /** The one field of a type. */
  def field(handle: StatefulProcessorHandle, kind: Class[_]): Field = {
    val found = handle.getClass.getDeclaredFields.find(_.getType == kind)
      .getOrElse(throw new IllegalStateException("Spark's handle of state has another form"))
    found.setAccessible(true)
    found
  }
}
