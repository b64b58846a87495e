package org.apache.spark.sql.streamc

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.connector.catalog.SupportsRead
import org.apache.spark.sql.connector.read.streaming.{MicroBatchStream, Offset => StreamOffset, SparkDataStream, SupportsAdmissionControl, SupportsTriggerAvailableNow}
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec
import org.apache.spark.sql.execution.streaming.{SerializedOffset, Source}

/**
 * One of Spark's sources as the gate uses it: its newest position, and the rows between two
 * positions.
 *
 * Positions are Spark's offsets of that source as JSON. One inner source serves all queries of a
 * job that read the source in the same way, in whatever thread they plan.
 */
trait Inner {
  /** The position up to which may be read next, after `last`; None if there is nothing yet. */
  def latest(last: Option[String]): Option[String]

  /** From now on `latest` stops at what exists at this moment, in steps of the source's limit. */
  def limit(last: Option[String]): Unit

  def rows(start: Option[String], end: String): DataFrame

  /** Called when the source is at a position that was reached in an earlier run. */
  def resume(at: String): Unit

  /** The rows up to this position will never be requested again. */
  def release(at: String): Unit

  def stop(): Unit
}

object Inner {
  def of(data: DataSource, log: String): Inner = new InnerSource(data.createSource(log))

  def of(session: SparkSession, relation: StreamingRelationV2, log: String): Inner =
    new InnerStream(session, relation, log)
}

/** What sources of both of Spark's APIs share: a fixed limit. */
private abstract class LimitedInner extends Inner {
  private var there: Option[Option[String]] = None

  protected def stream: SparkDataStream

  protected def read(last: Option[String]): Option[String]

  override def latest(last: Option[String]): Option[String] = synchronized {
    there.getOrElse(read(last))
  }

  override def limit(last: Option[String]): Unit = synchronized {
    stream match {
      case limited: SupportsTriggerAvailableNow => limited.prepareForTriggerAvailableNow()
      case _ => there = Some(read(last))
    }
  }

  override def stop(): Unit = stream.stop()

  protected def admitted(s: SupportsAdmissionControl, last: StreamOffset): Option[String] =
    Option(s.latestOffset(last, s.getDefaultReadLimit)).map(_.json())
}

private class InnerSource(source: Source) extends LimitedInner {
  override protected def stream: SparkDataStream = source

  override protected def read(last: Option[String]): Option[String] = source match {
    case s: SupportsAdmissionControl => admitted(s, last.map(SerializedOffset(_)).orNull)
    case s => s.getOffset.map(_.json())
  }

  override def rows(start: Option[String], end: String): DataFrame = synchronized {
    source.getBatch(start.map(SerializedOffset(_)), SerializedOffset(end))
  }

  override def resume(at: String): Unit = synchronized {
    // Kafka's source takes the end of the first batch that is requested as its current position.
    source.getBatch(Some(SerializedOffset(at)), SerializedOffset(at))
  }

  override def release(at: String): Unit = synchronized(source.commit(SerializedOffset(at)))
}

private class InnerStream(session: SparkSession, relation: StreamingRelationV2, log: String)
    extends LimitedInner {
  private val scan =
    relation.table.asInstanceOf[SupportsRead].newScanBuilder(relation.extraOptions).build()
  override protected val stream: MicroBatchStream = scan.toMicroBatchStream(log)

  private def offset(at: String): StreamOffset = stream.deserializeOffset(at)

  override protected def read(last: Option[String]): Option[String] = stream match {
    case s: SupportsAdmissionControl => admitted(s, last.map(offset).getOrElse(s.initialOffset()))
    case s => Option(s.latestOffset()).map(_.json())
  }

  override def rows(start: Option[String], end: String): DataFrame = synchronized {
    val output = relation.output.map(_.newInstance())
    val from = start.map(offset).getOrElse(stream.initialOffset())
    // Not as a relation of its own, which Spark would take for a source without new data.
    val rows = MicroBatchScanExec(output, scan, stream, from, offset(end)).execute()
    Dataset.ofRows(session, LogicalRDD(output, rows, isStreaming = true)(session))
  }

  override def resume(at: String): Unit = ()

  override def release(at: String): Unit = stream.commit(offset(at))
}
