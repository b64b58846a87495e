package org.apache.spark.sql.streamc

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * The order in which a query produces the rows of a batch, as a column.
 *
 * The order is meaningful where a program emits the rows of its keys one by one, and for rows of a
 * source. The output of a shuffle has none: its rows come as blocks arrive. A lookup may shuffle
 * too, or reverse the rows of a key, so places are assigned below it.
 */
object Places {
  val Column = "__streamc_place"

  /** The frame with a last column that increases from row to row. */
  def number(frame: DataFrame): DataFrame = {
    val numbered = placed(analyzed(frame)).map(_.plan).getOrElse(analyzed(frame))
    Dataset.ofRows(frame.asInstanceOf[Dataset[Row]].sparkSession, numbered)
      .asInstanceOf[Dataset[Row]]
  }

  private def analyzed(frame: DataFrame): LogicalPlan =
    frame.asInstanceOf[Dataset[_]].queryExecution.analyzed

  /** A plan with places in its last column; `branches` is the number of orders that it combines. */
  private case class Placed(below: LogicalPlan, place: Attribute, branches: Int) {
    def plan: LogicalPlan =
      if (below.output.last == place) below
      else Project(below.output.filterNot(_.exprId == place.exprId) :+ place, below)
  }

  private def placed(plan: LogicalPlan, first: Int = 0): Option[Placed] = plan match {
    case _: SerializeFromObject | _: TransformWithStateInPySpark if emits(plan) => here(plan, first)
    case leaf: LeafNode => if (leaf.isStreaming) here(leaf, first) else None
    case Project(columns, child) =>
      placed(child, first).map(p => p.copy(below = Project(columns :+ p.place, p.below)))
    case _: Filter | _: SubqueryAlias | _: EventTimeWatermark | _: Generate =>
      placed(plan.children.head, first)
        .map(p => p.copy(below = plan.withNewChildren(Seq(p.below))))
    case lookup: Join if !lookup.right.isStreaming =>
      placed(lookup.left, first).map(p => p.copy(below = lookup.copy(left = p.below)))
    case lookup: Join if !lookup.left.isStreaming =>
      placed(lookup.right, first).map(p => p.copy(below = lookup.copy(right = p.below)))
    case union: Union => merged(union, first)
    case _ => None
  }

  /** The rows of a branch follow those of the branches before it. */
  private def merged(union: Union, first: Int): Option[Placed] = {
    val (sides, next) = union.children.foldLeft((Seq.empty[Option[Placed]], first)) {
      case ((done, at), child) =>
        val side = placed(child, at)
        (done :+ side, at + side.map(_.branches).getOrElse(0))
    }
    if (sides.contains(None)) None
    else {
      val all = union.withNewChildren(sides.flatten.map(_.plan))
      Some(Placed(all, all.output.last, next - first))
    }
  }

  private def emits(plan: LogicalPlan): Boolean = plan match {
    case SerializeFromObject(_, _: TransformWithState) => true
    case _: TransformWithStateInPySpark => true
    case _ => false
  }

  private def here(plan: LogicalPlan, branch: Int): Option[Placed] = {
    val place = Alias(RowPlace(branch), Column)()
    Some(Placed(Project(plan.output :+ place, plan), place.toAttribute, 1))
  }
}

/** The position of a row in a batch: by branch, by partition, by its order there. */
case class RowPlace(branch: Int) extends LeafExpression with Nondeterministic with CodegenFallback {
  @transient private var next = 0L

  override def dataType: DataType = LongType
  override def nullable: Boolean = false

  override protected def initializeInternal(partition: Int): Unit =
    next = (branch.toLong << 56) + (partition.toLong << 34)

  override protected def evalInternal(row: InternalRow): Any = {
    val here = next
    next += 1
    here
  }
}
