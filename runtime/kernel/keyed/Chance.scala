package org.apache.spark.sql.streamc

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/** What is another value when it is computed again, though the rows are the same. */
private[streamc] object Chance {

  /** Whether an expression is so. What is asked for the sake of late rows is not. */
  def isIn(e: Expression): Boolean = (!e.deterministic && draws(e)) || e.exists(drawsVector)

  private def draws(e: Expression): Boolean = e match {
    case _: WatermarkBefore | _: EveryRow => false
    case leaf if leaf.children.forall(_.deterministic) => !leaf.deterministic
    case other => other.children.exists(draws)
  }

  /** Equal texts become other bytes each time, which Spark's planner does not know. */
  private def drawsVector(e: Expression): Boolean = e match {
    case cipher: AesEncrypt => !isText(cipher.mode, "ECB") && isText(cipher.iv, "")
    case _ => false
  }

  private def isText(e: Expression, text: String): Boolean = e.foldable && (e.eval() match {
    case bytes: Array[Byte] => new String(bytes, UTF_8).equalsIgnoreCase(text)
    case other => other != null && other.toString.equalsIgnoreCase(text)
  })

  /** An expression that draws otherwise than the one it is made of, which all tasks have. */
  def shifted(e: Expression, by: Long): Expression = e.transformUp {
    case drawn: ExpressionWithRandomSeed => Drawn(drawn.withShiftedSeed(by))
  }
}

/** A value that is drawn by a seed which is not in the generated code: that would be new each time. */
private[streamc] case class Drawn(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(row: InternalRow): Any = child.eval(row)

  override protected def withNewChildInternal(found: Expression): Expression = copy(child = found)
}
