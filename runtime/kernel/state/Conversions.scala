package org.apache.spark.sql.streamc

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.classic.{ExpressionUtils, SparkSession}
import org.apache.spark.sql.types.{DataType, StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Expressions that convert columns of a savepoint: what they read, and where they fail. */
object Conversions {
  /** The value of an expression, as `value` of a struct, or why it has none, as `error`. */
  def attempted(session: SparkSession, text: String): Column =
    ExpressionUtils.column(Attempt(parsed(session, text)))

  /** The columns that an expression reads, in the order in which it names them. */
  def reads(session: SparkSession, text: String): Array[String] =
    parsed(session, text).collect { case column: UnresolvedAttribute => column.nameParts.head }
      .distinct.toArray

  /**
   * Whether it returns NULL for what it can't convert: it has TRY_CAST or a function `try_…`, or
   * any CAST if the pipeline does not use ANSI mode.
   */
  def tries(session: SparkSession, text: String): Boolean = parsed(session, text).exists {
    case cast: Cast => cast.evalMode != EvalMode.ANSI
    case call: UnresolvedFunction => call.nameParts.last.toLowerCase.startsWith("try_")
    case _ => false
  }

  /** The compressed bytes of the columns of Parquet files; a struct is one column. */
  def columnBytes(
      session: SparkSession, paths: java.util.List[String]): java.util.Map[String, Long] = {
    val conf = session.sessionState.newHadoopConf()
    val chunks = paths.asScala.toSeq.flatMap { path =>
      val reader = ParquetFileReader.open(HadoopInputFile.fromPath(new Path(path), conf))
      try reader.getFooter.getBlocks.asScala.flatMap(_.getColumns.asScala).toSeq
      finally reader.close()
    }
    chunks.groupMapReduce(_.getPath.toArray.head)(_.getTotalSize)(_ + _).asJava
  }

  private def parsed(session: SparkSession, text: String): Expression =
    session.withActive(session.sessionState.sqlParser.parseExpression(text))
}

/**
 * A value and an error in a struct: one of them is NULL. An error is the name of its class and,
 * from the second line on, its message.
 *
 * Spark's own TryEval generates code, which computes common subexpressions ahead of all others,
 * outside the block that catches the error.
 */
case class Attempt(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType =
    StructType(Seq(StructField("value", child.dataType), StructField("error", StringType)))
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override def eval(row: InternalRow): Any =
    try InternalRow(child.eval(row), null)
    catch {
      case NonFatal(e) =>
        val text = s"${e.getClass.getSimpleName}\n${Option(e.getMessage).getOrElse("")}"
        InternalRow(null, UTF8String.fromString(text))
    }

  override protected def withNewChildInternal(found: Expression): Expression = copy(child = found)
}
