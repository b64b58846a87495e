package org.apache.spark.sql.streamc

import org.apache.spark.sql.catalyst.expressions.{NamedExpression, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * An exchange between an aggregate and a stateful operator above it, if there is none.
 *
 * If both distribute rows by the same keys, Spark runs them in one task. The thread then still has
 * the state that the aggregate has read, and the next operator of the task that only writes takes
 * it for its own: "Can only upgrade readStore to writeStore with the same stateStoreId". Sessions
 * are distributed by their keys alone, as ids and programs are. For other windows the window is one
 * of the keys, by which nothing above is distributed.
 *
 * Spark omits an exchange by keys if rows are already distributed by them, but not a round-robin
 * one.
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

  /** Whether rows come from an aggregate without such an exchange in between. */
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
