package org.apache.spark.sql.streamc

import org.apache.spark.sql.catalyst.expressions.{NamedExpression, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * An exchange between an aggregate and what has a state of its own above it, where there is none.
 *
 * Where rows are spread by the same keys for both, Spark runs them in one task. What an aggregate has
 * read of its state stays noted there for the thread, and the next operator of the task that only
 * writes takes it for its own: "Can only upgrade readStore to writeStore with the same stateStoreId".
 * Sessions are spread by their keys alone, and so are ids and programs. Other windows are keys to
 * Spark, by which nothing above is spread.
 *
 * Spark leaves out an exchange by keys by which rows are spread already; one by turns it does not.
 */
private[streamc] object Exchanges {
  def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case ids: Deduplicate if follows(ids.child) => ids.copy(child = apart(ids.child))
    case ids: DeduplicateWithinWatermark if follows(ids.child) => ids.copy(child = apart(ids.child))
    case program: TransformWithState if follows(program.child) =>
      program.copy(child = apart(program.child))
    case program: TransformWithStateInPySpark if follows(program.child) =>
      program.copy(child = apart(program.child))
  }

  private def apart(rows: LogicalPlan): LogicalPlan =
    Repartition(rows.conf.numShufflePartitions, shuffle = true, rows)

  /** Whether rows come from an aggregate without an exchange of this kind between. */
  private def follows(plan: LogicalPlan): Boolean = plan match {
    case _: Repartition => false
    case aggregate: Aggregate if aggregate.isStreaming && !hasWindow(aggregate) => true
    case _ => plan.children.exists(follows)
  }

  private def hasWindow(aggregate: Aggregate): Boolean = aggregate.groupingExpressions.exists {
    case key: NamedExpression => key.resolved && key.metadata.contains(TimeWindow.marker)
    case _ => false
  }
}
