package org.apache.spark.sql.streamc

import scala.jdk.CollectionConverters._

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.streaming.UserProvided
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.execution.aggregate.{BaseAggregateExec, MergingSessionsExec}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.python.EvalPythonExec
import org.apache.spark.sql.execution.streaming.operators.stateful._
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.execution.streaming.runtime.{StreamExecution, StreamingExecutionRelation}

/**
 * What Spark has counted in one micro-batch, read from the metrics of the plan that ran.
 *
 * Nothing is added to the plan. Nodes that pass every row on are left out; the others are a tree of
 * JSON objects with `kind`, their counters, and `from`, the nodes that their rows come from. Tables
 * with something to report follow beside them.
 */
object Ledger {

  /**
   * The counters of the batch that a query is handing to its sinks, all of whose rows have been
   * read.
   */
  def of(batch: DataFrame): String = {
    val session = batch.asInstanceOf[Dataset[_]].sparkSession
    val query = session.sharedState.activeStreamingQueries.values.asScala.find { running =>
      running.lastExecution != null && (running.lastExecution.sparkSession eq session)
    }.getOrElse(throw new IllegalStateException("no running query has this batch"))
    val nodes = new CountedNodes(query).of(query.lastExecution.executedPlan)
    JsonMethods.compact(JArray((nodes ++ tables(query)).toList))
  }

  /** Tables of the batch that have an odd instant; nothing else is reported of tables. */
  private def tables(query: StreamExecution): Seq[JValue] =
    query.lastExecution.analyzed.collect {
      case LogicalRelation(TableRelation(table, _), _, _, _, _) => table
    }.distinct.flatMap { table =>
      table.odd.map(found =>
        JObject("kind" -> JString("table"), "owner" -> JString(table.owner), "odd" -> found.json))
    }

  /**
   * Whether tasks that had been counted may have run a second time since `from` (milliseconds since
   * 1970): a stage was retried, or an executor was lost together with its part of the batch.
   */
  def mayHaveCountedTwice(batch: DataFrame, from: Long): Boolean = {
    val context = batch.asInstanceOf[Dataset[_]].sparkSession.sparkContext
    val store = context.statusStore
    val lost = store.executorList(false).exists(_.removeTime.exists(_.getTime >= from))
    lost || store.stageList(null).exists { stage =>
      stage.attemptId > 0 && stage.submissionTime.exists(_.getTime >= from)
    }
  }
}

/** The source that each leaf of a batch's plan reads. */
private class Leaves(query: StreamExecution) {
  private val reads = query.logicalPlan.collect { case read: StreamingExecutionRelation => read }

  /** Spark marks what a source has returned with the source, except for existing scans. */
  private val scans = {
    val declared = query.logicalPlan.collectLeaves()
    declared.zip(query.lastExecution.logical.collectLeaves()).collect {
      case (read: StreamingExecutionRelation, scan: StreamingDataSourceV2ScanRelation) =>
        scan.stream -> read.source
    }
  }

  /** The source that a leaf reads; None for tables and the like, "" if it returned nothing. */
  def source(leaf: SparkPlan): Option[String] = leaf match {
    case aware: StreamSourceAwareSparkPlan => aware.getStream.flatMap(read).orElse(empty(leaf))
    case _ => None
  }

  private def read(stream: SparkDataStream): Option[String] = {
    val source = scans.collectFirst { case (inner, outer) if inner eq stream => outer }
    reads.find(_.source eq source.getOrElse(stream)).map(name)
  }

  /** The optimizer removes the mark from empty relations, and may change their columns. */
  private def empty(leaf: SparkPlan): Option[String] = leaf match {
    case local: LocalTableScanExec if local.logicalLink.exists(_.isStreaming) =>
      val output = local.outputSet
      Some(reads.find(r => output.nonEmpty && output.subsetOf(r.outputSet)).map(name).getOrElse(""))
    case _ => None
  }

  private def name(read: StreamingExecutionRelation): String = read.sourceIdentifyingName match {
    case UserProvided(name) => name
    case _ => read.source.toString
  }
}

private object CountedNodes {
  /** The plan's nodes down to the next filter or branch. */
  def chain(plan: SparkPlan): Seq[SparkPlan] = plan match {
    case _: FilterExec => Nil
    case other if other.children.size == 1 => other +: chain(other.children.head)
    case other => Seq(other)
  }
}

private class CountedNodes(query: StreamExecution) {
  private val leaves = new Leaves(query)

  def of(plan: SparkPlan): Seq[JValue] = plan match {
    case adaptive: AdaptiveSparkPlanExec => of(adaptive.executedPlan)
    case stage: QueryStageExec => of(stage.plan)
    case reused: ReusedExchangeExec => of(reused.child)
    case leaf if leaf.children.isEmpty => leaves.source(leaf).map(scan(leaf, _)).toSeq
    case Keyed.Run(operator, process) => Seq(program(operator, process))
    case InPython.Run(operator, text) => Seq(inPython(operator, text))
    case operator: StateStoreWriter => Seq(stateful(operator))
    case _: StateStoreRestoreExec | _: SessionWindowStateStoreRestoreExec | _: MergingSessionsExec |
        _: BaseAggregateExec => Seq(counted(plan, kindOf(plan), "out" -> out(plan)))
    case filter: FilterExec =>
      val condition = filter.condition.sql
      val read = messages(filter).map("messages" -> _).toSeq
      val counters = Seq("out" -> out(filter), "condition" -> JString(condition)) ++ read
      Seq(counted(filter, "filter", counters: _*))
    case shuffle: ShuffleExchangeExec =>
      val (written, read) = (metric(shuffle, "shuffleRecordsWritten"), metric(shuffle, "recordsRead"))
      Seq(counted(shuffle, "shuffle", "written" -> written, "out" -> read))
    case python: EvalPythonExec =>
      Seq(counted(python, "python", "out" -> metric(python, "pythonNumRowsReceived")))
    case join: BaseJoinExec => Seq(counted(join, "lookup", "out" -> out(join)))
    case _: UnionExec => plan.children.flatMap(of)
    case _: ProjectExec | _: SortExec | _: EventTimeWatermarkExec | _: WholeStageCodegenExec |
        _: SerializeFromObjectExec | _: InputAdapter | _: ColumnarToRowExec | _: AQEShuffleReadExec | _: CoalesceExec =>
      plan.children.flatMap(of)
    case beside if !streams(beside) => Nil
    case other if other.metrics.contains("numOutputRows") =>
      Seq(counted(other, "rows", "name" -> JString(other.nodeName), "out" -> out(other)))
    case other => Seq(counted(other, "uncounted", "name" -> JString(other.nodeName)))
  }

  private def kindOf(plan: SparkPlan): String = plan match {
    case _: StateStoreRestoreExec | _: SessionWindowStateStoreRestoreExec => "restore"
    case _ => "groups"
  }

  private def scan(leaf: SparkPlan, source: String): JValue = {
    val records = leaf match {
      case files: FileSourceScanExec => files.relation.fileFormat match {
        case strict: StrictFiles => strict.counts.map(_.json)
        case _ => None
      }
      case _ => None
    }
    node("scan", "source" -> JString(source), "out" -> out(leaf), "records" -> records.getOrElse(JNull))
  }

  /** Messages without a row, if the filter is over the reading of messages. */
  private def messages(filter: FilterExec): Option[JValue] = {
    val below = CountedNodes.chain(filter.child)
    val readings = below.flatMap(_.expressions).flatMap(_.collect { case r: ReadMessage => r })
    readings.headOption.map { reading =>
      val Seq(malformed, blank) = reading.counts.take(query): @unchecked
      val odd = reading.odd.value.map(_.json).getOrElse(JNull)
      JObject("malformed" -> JInt(malformed), "blank" -> JInt(blank), "odd" -> odd)
    }
  }

  /** A stateful operator; counters that Spark lacks for its kind are absent. */
  private def stateful(operator: StateStoreWriter): JValue = {
    val plan = operator.asInstanceOf[SparkPlan]
    val (kind, mode) = plan match {
      case save: StateStoreSaveExec => "aggregate" -> save.outputMode.map(_.toString)
      case save: SessionWindowStateStoreSaveExec => "session" -> save.outputMode.map(_.toString)
      case _: BaseStreamingDeduplicateExec => "dedup" -> None
      case join: StreamingSymmetricHashJoinExec => "join" -> Some(join.joinType.sql)
      case other => "stateful" -> Some(other.nodeName)
    }
    val keyed = plan match {
      case save: StateStoreSaveExec => save.keyExpressions.nonEmpty
      case _ => true
    }
    counted(
      plan,
      kind,
      "number" -> JInt(operator.getStateInfo.operatorId),
      "mode" -> mode.map(JString(_)).getOrElse(JNull),
      "keyed" -> JBool(keyed),
      "out" -> out(plan),
      "late" -> late(plan),
      "duplicates" -> metric(plan, "numDroppedDuplicateRows"),
      "updated" -> metric(plan, "numUpdatedStateRows"),
      "removed" -> metric(plan, "numRemovedStateRows"),
      "held" -> metric(plan, "numTotalStateRows"))
  }

  private def program(operator: TransformWithStateExec, process: KeyedProcess): JValue = {
    val Seq(arrived, handled, emitted) = process.counts.take(query): @unchecked
    counted(
      operator,
      "program",
      "number" -> JInt(operator.getStateInfo.operatorId),
      "late" -> late(operator),
      "arrived" -> JInt(arrived),
      "handled" -> JInt(handled),
      "out" -> JInt(emitted),
      "held" -> metric(operator, "numTotalStateRows"))
  }

  /** A program that counts in Python: `counts` and `batch` identify its counts. */
  private def inPython(operator: StateStoreWriter, text: ProgramText): JValue = {
    val plan = operator.asInstanceOf[SparkPlan]
    counted(
      plan,
      "program",
      "number" -> JInt(operator.getStateInfo.operatorId),
      "late" -> late(plan),
      "counts" -> JInt(text.counts),
      "batch" -> JString(BatchCounts.key(query)),
      "out" -> out(plan),
      "held" -> metric(plan, "numTotalStateRows"))
  }

  /** Late rows of a session are dropped where its state is read. */
  private def late(plan: SparkPlan): JValue = {
    val dropping = plan match {
      case save: SessionWindowStateStoreSaveExec =>
        save.collectFirst { case read: SessionWindowStateStoreRestoreExec => read }.getOrElse(save)
      case other => other
    }
    metric(dropping, "numRowsDroppedByWatermark")
  }

  private def counted(plan: SparkPlan, kind: String, counters: (String, JValue)*): JValue = {
    val below = plan.children.filter(streams).map(child => JArray(of(child).toList))
    node(kind, counters :+ ("from" -> JArray(below.toList)): _*)
  }

  /** Whether any rows come from a source; tables beside the streams are not counted. */
  private def streams(plan: SparkPlan): Boolean = plan match {
    case adaptive: AdaptiveSparkPlanExec => streams(adaptive.executedPlan)
    case stage: QueryStageExec => streams(stage.plan)
    case leaf if leaf.children.isEmpty => leaves.source(leaf).isDefined
    case other => other.children.exists(streams)
  }

  private def node(kind: String, fields: (String, JValue)*): JValue =
    JObject(("kind" -> JString(kind)) +: fields.filter(_._2 != JNull): _*)

  private def out(plan: SparkPlan): JValue = metric(plan, "numOutputRows")

  private def metric(plan: SparkPlan, name: String): JValue =
    plan.metrics.get(name).map(m => JInt(m.value)).getOrElse(JNull)
}
