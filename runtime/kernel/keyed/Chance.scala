package org.apache.spark.sql.streamc

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/** Expressions whose value changes when they are computed a second time over the same rows. */
private[streamc] object Chance {

  /** Whether an expression is one. Those that find late rows are not. */
  def isIn(e: Expression): Boolean = (!e.deterministic && draws(e)) || e.exists(drawsVector)

  private def draws(e: Expression): Boolean = e match {
    case _: WatermarkBefore | _: EveryRow => false
    case leaf if leaf.children.forall(_.deterministic) => !leaf.deterministic
    case other => other.children.exists(draws)
  }

  /** Equal texts are encrypted to different bytes, which Spark's planner does not know. */
  private def drawsVector(e: Expression): Boolean = e match {
    case cipher: AesEncrypt => !isText(cipher.mode, "ECB") && isText(cipher.iv, "")
    case _ => false
  }

  private def isText(e: Expression, text: String): Boolean = e.foldable && (e.eval() match {
    case bytes: Array[Byte] => new String(bytes, UTF_8).equalsIgnoreCase(text)
    case other => other != null && other.toString.equalsIgnoreCase(text)
  })

  /** The expression with its seed shifted; all tasks have the original. */
  def shifted(e: Expression, by: Long): Expression = e.transformUp {
    case drawn: ExpressionWithRandomSeed => Drawn(drawn.withShiftedSeed(by))
  }
}

/** A random value whose seed is not in the generated code, which would be new for each seed. */
private[streamc] case class Drawn(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(row: InternalRow): Any = child.eval(row)

  override protected def withNewChildInternal(found: Expression): Expression = copy(child = found)
}
