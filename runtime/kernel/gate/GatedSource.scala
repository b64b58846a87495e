package org.apache.spark.sql.streamc

import scala.collection.mutable

import org.json4s.JsonAST.JObject
import org.json4s.JsonDSL._

import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.streaming.{StreamingRelationV2, StreamingSourceIdentifyingName, UserProvided}
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.connector.read.streaming.{Offset => StreamOffset, ReadLimit, SupportsAdmissionControl}
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.execution.streaming.{Offset, Source}
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation
import org.apache.spark.sql.sources.StreamSourceProvider
import org.apache.spark.sql.types.StructType

/** A read of a source in one query: the gate sets the end, the inner source gives the rows. */
class GatedSource(
    session: SparkSession,
    gate: Gate,
    query: String,
    val name: String,
    output: Seq[Attribute],
    inner: Inner)
    extends Source
    with SupportsAdmissionControl {

  override val schema: StructType = StructType(output.map(a => Gated.field(a)))

  override def getOffset: Option[Offset] =
    throw new UnsupportedOperationException("a source of the gate is asked with a limit")

  override def latestOffset(start: StreamOffset, limit: ReadLimit): StreamOffset = {
    Watermarks.install(session)
    gate.admit(query, this, start)
  }

  override def getBatch(start: Option[Offset], end: Offset): DataFrame = {
    val from = start.map(o => EpochOffset.of(o).at).orNull
    val EpochOffset(epoch, to) = EpochOffset.of(end)
    // Whatever else is planned for this batch, such as tables, depends on the epoch as well.
    session.sparkContext.setLocalProperty(Gated.Epoch, epoch.toString)
    session.sparkContext.setLocalProperty(Gated.Finished, gate.finished.toString)
    EpochInstant.note(session, gate.openedAt(epoch))
    Watermarks.install(session)
    WatermarkBefore.note(session)
    // When a query starts, Spark requests the last batch once more, and reads none of it. Its files
    // may have moved since.
    val asked = to != null && to != from && epoch > gate.finished(query)
    if (asked) inner.rows(Option(from), to) else nothing
  }

  private def nothing: DataFrame = {
    val columns = output.map(a => AttributeReference(a.name, a.dataType, a.nullable, a.metadata)())
    Dataset.ofRows(session, LocalRelation(columns, isStreaming = true)).asInstanceOf[Dataset[Row]]
  }

  override def stop(): Unit = ()

  override def toString: String = s"source `$name`"
}

/** The reads of a job's sources, and the inner sources that they share. */
private[streamc] class Reads(session: SparkSession, gate: String, folder: String) {
  private type Definition = Either[DataSource, StreamingRelationV2]

  private val relations = mutable.LinkedHashMap.empty[String, (String, Definition, Seq[Attribute])]
  private val inners = mutable.LinkedHashMap.empty[(String, Any), Inner]
  private val leading = mutable.LinkedHashMap.empty[String, Inner]

  def names: Seq[String] = relations.values.map(_._1).toSeq.distinct.sorted

  /** By source, the inner one that determines its position. */
  def positions: collection.Map[String, Inner] = leading

  def gate(plan: LogicalPlan, query: String): LogicalPlan = plan.transform {
    case read: StreamingRelation =>
      gated(query, read.sourceIdentifyingName, Left(read.dataSource), read.output)
    case read: StreamingRelationV2 =>
      // A source that offers both APIs is used through the older one: Kafka.
      val definition: Definition = read.v1Relation
        .collect { case StreamingRelation(data, _, _, _) => data }.toLeft(read)
      gated(query, read.sourceIdentifyingName, definition, read.output)
  }

  private def gated(
      query: String,
      name: StreamingSourceIdentifyingName,
      definition: Definition,
      output: Seq[Attribute]): LogicalPlan = {
    val own = name match {
      case UserProvided(given) => given
      case other => throw new IllegalStateException(s"a source of query $query is not named: $other")
    }
    val key = s"$query/$own"
    // `x__2` is the second read of `x` in a query.
    relations(key) = (own.split("__", 2).head, definition, output)
    val data = DataSource(
      session,
      className = classOf[GateProvider].getName,
      userSpecifiedSchema = Some(StructType(output.map(Gated.field))),
      options = Map(Gated.Id -> gate, Gated.Query -> query, Gated.Read -> key),
      userSpecifiedStreamingSourceName = Some(UserProvided(own)))
    StreamingRelation(data, Gated.Name, output, name)
  }

  /**
   * Creates the inner sources: equal reads share one; the first of a source determines its
   * position.
   */
  def open(): Unit = relations.values.foreach { case (name, definition, _) =>
    val log = s"$folder/$name"
    val inner = inners.getOrElseUpdate((name, likeness(definition)), definition match {
      case Left(data) => Inner.of(data, log)
      case Right(stream) => Inner.of(session, stream, log)
    })
    leading.getOrElseUpdate(name, inner)
  }

  /** File sources that now read another folder. */
  def moved: Seq[JObject] =
    relations.values.toSeq.distinctBy(_._1).collect { case (name, Left(data), _) =>
      MovedFiles.of(session, data, s"$folder/$name").map(_ ~ ("source" -> name))
    }.flatten

  def source(gate: Gate, query: String, key: String): GatedSource = {
    val (name, definition, output) = relations(key)
    new GatedSource(session, gate, query, name, output, inners((name, likeness(definition))))
  }

  def resume(name: String, at: String): Unit = leading.get(name).foreach(_.resume(at))

  def release(name: String, at: String): Unit =
    if (at != null) leading.get(name).foreach(_.release(at))

  def stop(): Unit = inners.values.foreach(_.stop())

  private def likeness(definition: Definition): Any = definition match {
    case Left(data) => (data.className, data.paths, data.userSpecifiedSchema, data.options)
    case Right(stream) => (stream.sourceName, stream.extraOptions)
  }
}

object Gated {
  val Name = "gate"
  val Id = "gate.id"
  val Query = "gate.query"
  val Read = "gate.read"

  /** A local property of a query's thread: the epoch that is being planned. */
  val Epoch = "streamc.epoch"

  /** A local property of the same thread: the last epoch that every query has finished. */
  val Finished = "streamc.epochs.finished"

  def field(column: Attribute): org.apache.spark.sql.types.StructField =
    org.apache.spark.sql.types.StructField(
      column.name, column.dataType, column.nullable, column.metadata)
}

/** Creates the sources that [[Gate.wrap]] puts into a plan. */
class GateProvider extends StreamSourceProvider {
  override def sourceSchema(
      context: SQLContext,
      schema: Option[StructType],
      name: String,
      options: Map[String, String]): (String, StructType) = (Gated.Name, schema.get)

  override def createSource(
      context: SQLContext,
      metadataPath: String,
      schema: Option[StructType],
      name: String,
      options: Map[String, String]): Source =
    Gates.of(options(Gated.Id)).source(options(Gated.Query), options(Gated.Read))
}
