package org.apache.spark.sql.streamc

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.{AgnosticEncoder, ExpressionEncoder, RowEncoder}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/**
 * Encoders from Spark's internal rows to the same rows: a state variable or a processor takes the
 * internal row as its object.
 */
object RowEncoders {
  def of(schema: StructType): ExpressionEncoder[InternalRow] =
    ExpressionEncoder(
      RowEncoder.encoderFor(schema).asInstanceOf[AgnosticEncoder[InternalRow]],
      serializer(schema),
      WholeRow())

  /** The columns of an object that is a row. */
  def columns(schema: StructType): Seq[NamedExpression] = schema.zipWithIndex.map { case (f, i) =>
    Alias(ColumnOf(BoundReference(0, row, nullable = false), i, f.dataType), f.name)()
  }

  val row: DataType = ObjectType(classOf[InternalRow])

  private def serializer(schema: StructType): Expression =
    CreateNamedStruct(columns(schema).flatMap(c => Seq(Literal(c.name), c.children.head)))
}
