package org.apache.spark.sql.streamc

import java.util.UUID

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Partial}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.InternalOutputModes
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.{CommandExecutionMode, SparkPlan}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata
import org.apache.spark.sql.execution.streaming.operators.stateful._
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.execution.streaming.runtime.{IncrementalExecution, WatermarkPropagator}
import org.apache.spark.sql.types.DataType

/**
 * What the stateful operators of a query will keep, read from Spark's own physical plan.
 *
 * The plan is taken before Spark prepares it for execution: the logical plan is optimised (so that
 * pruned columns and shared aggregates are gone) and planned, but no checkpoint is touched.
 */
object Layout {

  /** The stateful operators of a streaming frame in Spark's numbering order, as a JSON array. */
  def of(frame: DataFrame, outputMode: String): String = {
    val dataset = frame.asInstanceOf[Dataset[_]]
    val plan = physicalPlan(dataset.sparkSession, dataset.logicalPlan, outputMode)
    JsonMethods.compact(JArray(plan.collect {
      case save: StateStoreSaveExec => aggregate(save.keyExpressions, None, save.child)
      case save: SessionWindowStateStoreSaveExec =>
        aggregate(save.keyWithoutSessionExpressions, Some(save.sessionExpression), save.child)
      case join: StreamingSymmetricHashJoinExec => symmetricJoin(join)
      case dedup: BaseStreamingDeduplicateExec =>
        JObject("kind" -> JString("dedup"), "keys" -> columns(dedup.keyExpressions))
      case Keyed.Run(_, process) =>
        val keys = process.program.keys.filter(_ => process.program.keyed)
        program(
          keys.map(k => k.name -> k.dataType),
          process.program.values ++ process.program.entries,
          process.program.timers)
      case InPython.Run(_, text) => program(text.keys, text.cells, text.timers)
      case other: StateStoreWriter => JObject("kind" -> JString(other.shortName))
    }.toList))
  }

  private def physicalPlan(
      session: SparkSession, logical: LogicalPlan, outputMode: String): SparkPlan =
    new IncrementalExecution(
      session,
      logical,
      InternalOutputModes(outputMode),
      checkpointLocation = "<not started>",
      queryId = UUID.randomUUID,
      runId = UUID.randomUUID,
      currentBatchId = 0,
      prevOffsetSeqMetadata = None,
      offsetSeqMetadata = OffsetSeqMetadata(0, 0),
      watermarkPropagator = WatermarkPropagator.noop(),
      isFirstBatch = false,
      mode = CommandExecutionMode.SKIP).sparkPlan

  private def aggregate(
      keys: Seq[Attribute], session: Option[Attribute], merge: SparkPlan): JValue = {
    // The buffers' positions are those of the merging stage; only the partial one has the FILTER.
    val merging = merge.asInstanceOf[BaseAggregateExec].aggregateExpressions
    val partial = merge.collectFirst {
      case a: BaseAggregateExec
          if a.aggregateExpressions.nonEmpty && a.aggregateExpressions.forall(_.mode == Partial) =>
        a.aggregateExpressions
    }.getOrElse(merging)
    JObject(
      "kind" -> JString("aggregate"),
      "keys" -> columns(keys),
      "session" -> session.map(s => JString(s.name)).getOrElse(JNull),
      "aggregates" -> JArray(merging.zip(partial).map { case (m, p) => function(m, p) }.toList))
  }

  private def function(merging: AggregateExpression, partial: AggregateExpression): JValue = {
    val f = merging.aggregateFunction
    JObject(
      "function" -> JString(f.prettyName),
      "sql" -> JString(partial.aggregateFunction.sql),
      "distinct" -> JBool(merging.isDistinct),
      "filter" -> partial.filter.map(e => JString(e.sql)).getOrElse(JNull),
      "buffers" -> columns(f.aggBufferAttributes))
  }

  private def symmetricJoin(join: StreamingSymmetricHashJoinExec): JValue =
    JObject(
      "kind" -> JString("join"),
      "join" -> JString(join.joinType.sql),
      "sides" -> JArray(List(
        side(join.leftKeys, join.left.output), side(join.rightKeys, join.right.output))))

  private def program(
      keys: Seq[(String, DataType)], cells: Seq[CellShape], timers: Seq[TimerPlan]): JValue =
    JObject(
      "kind" -> JString("operator"),
      "keys" -> fields(keys),
      "cells" -> fields(cells.map(c => c.name -> c.whole)),
      "timers" -> JArray(timers.map(t => JString(t.name)).toList))

  private def fields(all: Seq[(String, DataType)]): JValue = JArray(all.map { case (name, kind) =>
    JObject("name" -> JString(name), "type" -> JString(kind.sql))
  }.toList)

  private def side(keys: Seq[Expression], kept: Seq[Attribute]): JValue =
    JObject("keys" -> columns(keys), "columns" -> columns(kept))

  private def columns(expressions: Seq[Expression]): JValue = JArray(expressions.map { e =>
    val name = e match {
      case named: NamedExpression => named.name
      case computed => computed.sql
    }
    JObject("name" -> JString(name), "type" -> JString(e.dataType.sql))
  }.toList)
}
