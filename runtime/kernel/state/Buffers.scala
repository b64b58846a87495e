package org.apache.spark.sql.streamc

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, RuntimeReplaceable}
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  ImperativeAggregate,
  TypedImperativeAggregate
}
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.classic.{ExpressionUtils, SparkSession}
import org.apache.spark.sql.types.{BinaryType, DataType, LongType, StructField, StructType}

/** Buffers that an aggregate of Spark's keeps in its own form, as they are in a state. */
object Buffers {
  /** The buffers in a column merged into one; a call of their function identifies it. */
  def merged(session: SparkSession, call: String, column: String): Column = {
    val of = function(session, call)
    ExpressionUtils.column(
      MergedBuffers(of, UnresolvedAttribute(Seq(column))).toAggregateExpression())
  }

  /** The words in a column of registers, such as Spark's HyperLogLog++ has, merged into one. */
  def registers(column: String): Column =
    ExpressionUtils.column(
      MergedRegisters(UnresolvedAttribute(Seq(column))).toAggregateExpression())

  private def function(session: SparkSession, call: String): TypedImperativeAggregate[Any] = {
    val found = session.sql(s"SELECT $call").queryExecution.analyzed.expressions
      .flatMap(_.collect { case one: AggregateExpression => one.aggregateFunction })
    written(found.head).asInstanceOf[TypedImperativeAggregate[Any]]
  }

  /** The aggregate that is run for one that is shorthand: PERCENTILE for MEDIAN. */
  private def written(function: Expression): Expression = function match {
    case short: RuntimeReplaceable => written(short.replacement)
    case long => long
  }
}

/**
 * Merges an aggregate's buffers as the aggregate merges those of partitions. The aggregate is not a
 * child: it is resolved, and its arguments are never computed.
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

/** Words of registers merged into one with the largest of each: ten registers of six bits. */
case class MergedRegisters(
    child: Expression,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0)
    extends ImperativeAggregate with UnaryLike[Expression] {

  private lazy val word = AttributeReference("word", LongType, nullable = false)()

  override def aggBufferAttributes: Seq[AttributeReference] = Seq(word)
  override lazy val inputAggBufferAttributes: Seq[AttributeReference] = Seq(word.newInstance())
  override def aggBufferSchema: StructType =
    StructType(aggBufferAttributes.map(one => StructField(one.name, one.dataType, one.nullable)))

  override def initialize(buffer: InternalRow): Unit = buffer.setLong(mutableAggBufferOffset, 0L)

  override def update(buffer: InternalRow, row: InternalRow): Unit = child.eval(row) match {
    case null =>
    case word: Long => add(buffer, word)
  }

  override def merge(buffer: InternalRow, other: InternalRow): Unit =
    add(buffer, other.getLong(inputAggBufferOffset))

  override def eval(buffer: InternalRow): Any = buffer.getLong(mutableAggBufferOffset)

  private def add(buffer: InternalRow, other: Long): Unit = {
    val own = buffer.getLong(mutableAggBufferOffset)
    var found = 0L
    var mask = 63L
    for (_ <- 0 until 10) {
      found |= math.max(own & mask, other & mask)
      mask <<= 6
    }
    buffer.setLong(mutableAggBufferOffset, found)
  }

  override def dataType: DataType = LongType
  override def nullable: Boolean = false

  override def withNewMutableAggBufferOffset(offset: Int): MergedRegisters =
    copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): MergedRegisters =
    copy(inputAggBufferOffset = offset)
  override protected def withNewChildInternal(found: Expression): MergedRegisters =
    copy(child = found)
}
