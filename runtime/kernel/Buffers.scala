package org.apache.spark.sql.streamc

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Expression, RuntimeReplaceable}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, TypedImperativeAggregate}
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.classic.{ExpressionUtils, SparkSession}
import org.apache.spark.sql.types.{BinaryType, DataType}

/** Buffers that an aggregate of Spark's keeps in a form of its own, as they lie in a state. */
object Buffers {
  /** The buffers in a column as one, which a call of their function stands for. */
  def merged(session: SparkSession, call: String, column: String): Column = {
    val of = function(session, call)
    ExpressionUtils.column(
      MergedBuffers(of, UnresolvedAttribute(Seq(column))).toAggregateExpression())
  }

  private def function(session: SparkSession, call: String): TypedImperativeAggregate[Any] = {
    val found = session.sql(s"SELECT $call").queryExecution.analyzed.expressions
      .flatMap(_.collect { case one: AggregateExpression => one.aggregateFunction })
    written(found.head).asInstanceOf[TypedImperativeAggregate[Any]]
  }

  /** What an aggregate is run as that is another one's way of writing: MEDIAN as PERCENTILE. */
  private def written(function: Expression): Expression = function match {
    case short: RuntimeReplaceable => written(short.replacement)
    case long => long
  }
}

/**
 * Merges buffers of an aggregate as that merges those of partitions. The aggregate is no child: it is
 * resolved, and what it is called with is never computed.
 */
case class MergedBuffers(
    of: TypedImperativeAggregate[Any],
    child: Expression,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0)
    extends TypedImperativeAggregate[Any] with UnaryLike[Expression] {

  override def createAggregationBuffer(): Any = of.createAggregationBuffer()

  override def update(buffer: Any, row: InternalRow): Any = child.eval(row) match {
    case null => buffer
    case bytes: Array[Byte] => of.merge(buffer, of.deserialize(bytes))
  }

  override def merge(buffer: Any, other: Any): Any = of.merge(buffer, other)
  override def eval(buffer: Any): Any = of.serialize(buffer)
  override def serialize(buffer: Any): Array[Byte] = of.serialize(buffer)
  override def deserialize(bytes: Array[Byte]): Any = of.deserialize(bytes)

  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false

  override def withNewMutableAggBufferOffset(offset: Int): MergedBuffers =
    copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): MergedBuffers =
    copy(inputAggBufferOffset = offset)
  override protected def withNewChildInternal(found: Expression): MergedBuffers =
    copy(child = found)
}
