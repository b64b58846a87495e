package org.apache.spark.sql.streamc

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange._
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.execution.python.EvalPythonExec
import org.apache.spark.sql.execution.streamc.TableRows
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec

/**
 * What a plan computes of the rows of a leaf, each on its own. It is `open` while no node above
 * makes rows depend on other rows.
 */
private[streamc] case class RowPath(leaf: SparkPlan, steps: Seq[RowStep], open: Boolean)

private[streamc] object RowPaths extends PredicateHelper {
  def of(plan: SparkPlan): Seq[RowPath] = written(below(plan))

  /** The paths to the rows of a node, whose columns need not have been computed. */
  private def below(plan: SparkPlan): Seq[RowPath] = plan match {
    case adaptive: AdaptiveSparkPlanExec => below(adaptive.executedPlan)
    case stage: QueryStageExec => below(stage.plan)
    case reused: ReusedExchangeExec => below(reused.child)
    case leaf if leaf.children.isEmpty => Seq(RowPath(leaf, Nil, open = true))
    case _: UnionExec | _: EventTimeWatermarkExec | _: WholeStageCodegenExec | _: InputAdapter |
        _: ColumnarToRowExec | _: AQEShuffleReadExec | _: CoalesceExec =>
      plan.children.flatMap(below)
    case _: BroadcastExchangeExec | _: SortExec => of(plan.children.head)
    case shuffle: ShuffleExchangeExec =>
      val by = shuffle.outputPartitioning match {
        case by: Expression => by.children
        case _ => Nil
      }
      written(looked(shuffle.child, by))
    case ProjectExec(list, input) =>
      on(input, list)(new Projected(Seq(list), input.output))
    case expand: ExpandExec =>
      on(expand.child, expand.projections.flatten)(
        new Projected(expand.projections, expand.child.output))
    case FilterExec(condition, input) =>
      on(input, Seq(condition))(new Kept(splitConjunctivePredicates(condition), input.output))
    case list: GenerateExec =>
      val generator = list.generator.asInstanceOf[Expression]
      on(list.child, Seq(generator))(new Listed(
        generator,
        list.requiredChildOutput,
        list.outer,
        list.generatorOutput.size,
        list.child.output))
    case aggregate: BaseAggregateExec => closed(arguments(aggregate))
    case python: EvalPythonExec =>
      closed(written(looked(python.child, python.udfs.flatMap(argumentsOf))))
    case join: BroadcastHashJoinExec =>
      val (build, stream) = sides(join.buildSide, join.left, join.right)
      val (buildKeys, keys) = sides(join.buildSide, join.leftKeys, join.rightKeys)
      lookup(join, build, looked(stream, keys), keys) ++ closed(looked(build, buildKeys))
    case lazily: CodegenSupport => closed(lazily.children.flatMap(below))
    case other => closed(other.children.flatMap(of))
  }

  private def sides[T](build: BuildSide, left: T, right: T): (T, T) = build match {
    case BuildLeft => (left, right)
    case BuildRight => (right, left)
  }

  private def written(paths: Seq[RowPath]): Seq[RowPath] = above(paths, Nil)(new Written)

  private def closed(paths: Seq[RowPath]): Seq[RowPath] = paths.map(_.copy(open = false))

  private def looked(input: SparkPlan, expressions: Seq[Expression]): Seq[RowPath] =
    if (expressions.isEmpty) below(input)
    else on(input, expressions)(new Looked(expressions, input.output))

  /** The paths of an input; the open ones get one more step. */
  private def on(input: SparkPlan, read: Seq[Expression])(step: => RowStep): Seq[RowPath] =
    above(below(input), read)(step)

  private def above(paths: Seq[RowPath], read: Seq[Expression])(step: => RowStep): Seq[RowPath] =
    paths.map {
      case path if !path.open => path
      case path if !read.forall(isCertain) => path.copy(open = false)
      case path =>
        try path.copy(steps = path.steps :+ step)
        catch { case NonFatal(_) => path.copy(open = false) }
    }

  /** Whether an expression has one value for a row, whenever and wherever it is computed. */
  private def isCertain(e: Expression): Boolean = e.deterministic || (e match {
    case _: SparkPartitionID | _: EveryRow => true
    case message: ReadMessage => message.children.forall(isCertain)
    case other => other.children.exists(!_.deterministic) && other.children.forall(isCertain)
  })

  /** Keys, and what aggregates compute of each row regardless of other rows. */
  private def arguments(aggregate: BaseAggregateExec): Seq[RowPath] = {
    val first = aggregate.aggregateExpressions.filter(e => e.mode == Partial || e.mode == Complete)
    val computed = first.map(e => e.filter -> (e.aggregateFunction match {
      case one @ (_: Sum | _: Average | _: Min | _: Max | _: Last | _: CollectList | _: CollectSet) =>
        one.children.take(1)
      case Count(Seq(one)) => Seq(one)
      case spread: CentralMomentAgg => spread.children
      case _ => Nil
    }))
    val keys = Option.when(aggregate.groupingExpressions.nonEmpty)(
      (Option.empty[Expression], aggregate.groupingExpressions))
    val all = keys.toSeq ++ computed
    on(aggregate.child, all.flatMap { case (filter, values) => filter.toSeq ++ values })(
      new Arguments(all, aggregate.child.output))
  }

  private def argumentsOf(function: PythonUDF): Seq[Expression] = function.children.flatMap {
    case inner: PythonUDF => argumentsOf(inner)
    case other => Seq(other)
  }

  private def lookup(
      join: BroadcastHashJoinExec,
      build: SparkPlan,
      stream: Seq[RowPath],
      keys: Seq[Expression]): Seq[RowPath] = {
    val (tableFirst, own) = join.buildSide match {
      case BuildLeft => (true, join.right.output)
      case BuildRight => (false, join.left.output)
    }
    val outer = if (tableFirst) RightOuter else LeftOuter
    val known = Seq[JoinType](Inner, outer, LeftSemi, LeftAnti).contains(join.joinType)
    if (!known || join.isNullAwareAntiJoin) closed(stream)
    else above(stream, join.condition.toSeq)(new LookedUp(
      TableRows(build, keys, own), join.condition, join.joinType, tableFirst, own, build.output))
  }
}
