package org.apache.spark.sql.streamc

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, TransformWithStateInPySpark}
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.types._

/**
 * The plan around a program whose handlers are a class in Python: the frame that Spark passes to
 * Python, and the one that it returns.
 *
 * Rows, keys and state are those of a program in the kernel, under the same names. The document is
 * metadata of the first key, so that the plan shows which program it runs.
 */
object InPython {
  private val Document = "streamc.program"
  private val At = "__at"
  private val Whole = "__row"

  /** The keys, the event time if late rows are dropped by it, and the row as a struct. */
  def input(document: String, frames: java.util.List[DataFrame]): DataFrame = {
    val text = new ProgramText(document)
    val sides = text.sides(frames)
    val session = sides.head._2.sparkSession.asInstanceOf[SparkSession]
    val (common, row, keys) = Keyed.common(text, sides)
    val at = if (text.ordered) Seq(Alias(row.head, At)()) else Nil
    val mark = new MetadataBuilder().putString(Document, document).build()
    val first = Alias(keys.head, keys.head.name)(explicitMetadata = Some(mark))
    val whole = Alias(CreateNamedStruct(row.flatMap(a => Seq(Literal(a.name), plain(a)))), Whole)()
    Dataset.ofRows(session, Project(first +: keys.tail ++: at ++: Seq(whole), common.logicalPlan))
  }

  /** To Spark, a field of a struct is not an event time. */
  private def plain(column: Attribute): Expression =
    Alias(column, column.name)(explicitMetadata = Some(Metadata.empty))

  /** The rows that Python returned, with the event time of RETURNS marked for the plan above. */
  def output(
      document: String, made: DataFrame, frames: java.util.List[DataFrame]): DataFrame = {
    val text = new ProgramText(document)
    Keyed.named(made.asInstanceOf[Dataset[Row]], text, text.sides(frames).map(_._2))
  }

  /** The schema of the initial state of such a program, as JSON; `input` is from [[input]]. */
  def stateSchema(document: String, input: DataFrame): String =
    schema(new ProgramText(document), input.asInstanceOf[Dataset[_]].logicalPlan).json

  private def schema(text: ProgramText, input: LogicalPlan): StructType = {
    val row = input.output.find(_.name == Whole).get.dataType.asInstanceOf[StructType]
    val (values, entries) = text.cells.partition(_.kind == "value")
    val waiting = if (text.ordered) Some(nullable(row)) else None
    val pieces = InitialState.pieces(KeyRecord.schema(values, text.timers), waiting, entries)
    val keys = input.output.take(math.max(text.keys.length, 1))
    StructType(keys.map(k => StructField(k.name, k.dataType)) ++ pieces)
  }

  private def nullable(row: StructType): StructType =
    StructType(row.map(field => StructField(field.name, field.dataType)))

  private def document(keys: Seq[Attribute]): Option[String] =
    keys.headOption.map(_.metadata).filter(_.contains(Document)).map(_.getString(Document))

  /** The schema of the state of such a program in one of Spark's logical plans. */
  private[streamc] object Made {
    def unapply(plan: LogicalPlan): Option[StructType] = plan match {
      case made: TransformWithStateInPySpark =>
        document(made.leftAttributes.take(made.groupingAttributesLen))
          .map(found => schema(new ProgramText(found), made.child))
      case _ => None
    }
  }

  /** Such a program in one of Spark's physical plans. */
  private[streamc] object Run {
    def unapply(plan: SparkPlan): Option[(TransformWithStateInPySparkExec, ProgramText)] =
      plan match {
        case run: TransformWithStateInPySparkExec =>
          document(run.groupingAttributes).map(found => (run, new ProgramText(found)))
        case _ => None
      }
  }
}
