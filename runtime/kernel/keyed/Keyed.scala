package org.apache.spark.sql.streamc

import org.apache.spark.SparkContext
import org.apache.spark.sql.{Column, DataFrame, Row}
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.functions.{col, expr, lit}
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor}
import org.apache.spark.sql.types._

/**
 * The frame of a keyed program over the frames of its inputs.
 *
 * All inputs become one frame: the event time first, then, if there are several, the input that a
 * row is of, the columns of each, and the keys at the end. The first column is an event time to
 * Spark only in an ordered program, and Spark then drops late rows; in other programs it may be the
 * instant until which a row is not late (`until`).
 */
object Keyed {
  private val At = "event_time"
  private val Of = "input"
  private val Plain = Metadata.empty

  def frame(document: String, frames: java.util.List[DataFrame]): DataFrame = {
    val text = new ProgramText(document)
    val sides = text.sides(frames)
    val session = sides.head._2.sparkSession.asInstanceOf[SparkSession]
    val (common, row, keys) = Keyed.common(text, sides)
    val place = new Place
    // Spark's rows end with their keys; rows that have waited in state do not.
    val program = read(session, text, place, row, if (text.ordered) Nil else keys, sides)
    val process = new KeyedProcess(program, place, counts(session.sparkContext))
    val plan = transform(program, process, row, keys, common.logicalPlan)
    named(Dataset.ofRows(session, plan), text, sides.map(_._2))
  }

  /**
   * The plan with its own processors: Spark keeps the progress of a query in them, and several
   * queries may read the relation of one program.
   */
  def apart(plan: LogicalPlan, context: SparkContext): LogicalPlan = plan.transform {
    case made @ Made(process) => made.copy(statefulProcessor =
      process.copyWith(counts(context)).asInstanceOf[StatefulProcessor[Any, Any, Any]])
  }

  /** A program in one of Spark's logical plans. */
  private object Made {
    def unapply(made: TransformWithState): Option[KeyedProcess] =
      KeyedProcess.unapply(made.statefulProcessor)
  }

  private def counts(context: SparkContext): BatchCounts = {
    val made = new BatchCounts(3)
    context.register(made)
    made
  }

  /** The columns of the state that the program of a frame may begin with, as JSON. */
  def stateSchema(frame: DataFrame): String =
    frame.asInstanceOf[Dataset[_]].logicalPlan.collectFirst {
      case Made(process) => new InitialState(process.program).schema.json
      case InPython.Made(schema) => schema.json
    }.get

  /** The program of a frame that was built by [[frame]]. */
  private[streamc] def process(frame: DataFrame): KeyedProcess =
    frame.asInstanceOf[Dataset[_]].logicalPlan.collectFirst { case Made(process) => process }.get

  /** A program in one of Spark's physical plans. */
  object Run {
    def unapply(plan: SparkPlan): Option[(TransformWithStateExec, KeyedProcess)] = plan match {
      case run: TransformWithStateExec =>
        KeyedProcess.unapply(run.statefulProcessor).map((run, _))
      case _ => None
    }
  }

  /** All inputs as one frame, with the columns that are the row and those that are the keys. */
  private[streamc] def common(text: ProgramText, sides: Seq[(InputText, DataFrame)])
      : (Dataset[Row], Seq[Attribute], Seq[Attribute]) = {
    val all = sides.indices.map(i => select(text, sides, i)).reduce(_ union _)
      .asInstanceOf[Dataset[Row]]
    val own = math.max(text.keys.length, 1)
    val found = withPlainKeys(untilEnds(text, all), own)
    val output = found.queryExecution.analyzed.output
    val (row, keys) = output.splitAt(output.length - own)
    (found, row, keys)
  }

  /** Until when rows are not late, if that is specified, clamped to the end of time. */
  private def untilEnds(text: ProgramText, rows: Dataset[Row]): Dataset[Row] =
    if (text.inputs.forall(_.until.isEmpty)) rows
    else {
      val plan = rows.queryExecution.analyzed.transform { case Project(columns, child) =>
        Project(columns.map {
          case at @ Alias(until, At) => at.withNewChildren(Seq(Ends.instant(until))).asInstanceOf[Alias]
          case other => other
        }, child)
      }
      Dataset.ofRows(rows.sparkSession, plan).asInstanceOf[Dataset[Row]]
    }

  /** State is looked up by the bytes of keys. */
  private def withPlainKeys(rows: Dataset[Row], keys: Int): Dataset[Row] = {
    val plan = rows.queryExecution.analyzed
    val (others, own) = plan.output.splitAt(plan.output.length - keys)
    if (!own.exists(key => PlainKeys.needed(key.dataType))) rows
    else {
      val plain = own.map(key => Alias(PlainKeys.of(key), key.name)())
      Dataset.ofRows(rows.sparkSession, Project(others ++ plain, plan)).asInstanceOf[Dataset[Row]]
    }
  }

  private def select(
      text: ProgramText, sides: Seq[(InputText, DataFrame)], input: Int): DataFrame = {
    val (own, frame) = sides(input)
    val aliased = frame.as(own.alias)
    def column(name: String): Column = col(s"`${own.alias.replace("`", "``")}`.`${name.replace("`", "``")}`")
    val at = own.eventTime match {
      case _ if own.until.isDefined => own.until.map(expr(_).as(At, delay(Seq(frame))))
      case Some(name) if text.ordered => Some(column(name).as(At))
      case Some(name) => Some(column(name).as(At, Plain))
      case None if sides.exists(_._1.timed) =>
        Some(lit(null).cast(TimestampType).as(At, Plain))
      case None => None
    }
    val columns = sides.zipWithIndex.flatMap { case ((other, frame), i) =>
      other.columns.map { name =>
        val kind = frame.schema(frame.schema.fieldNames.indexWhere(_.equalsIgnoreCase(name))).dataType
        val named = s"${StateName(other.alias)}__${StateName(name)}"
        (if (i == input) column(name) else lit(null).cast(kind)).as(named, Plain)
      }
    }
    val keys = text.keys.zip(own.keys).map { case ((name, kind), key) =>
      // Spark writes the schema of a key with names that Avro allows.
      expr(key).cast(StateName.within(kind)).as(StateName.alone(name), Plain)
    }
    val none = if (keys.isEmpty) Seq(lit(true).as("all", Plain)) else Nil
    val which = if (sides.length > 1) Seq(lit(input).as(Of, Plain)) else Nil
    // What has no instant has no place in an order.
    val placed = own.eventTime.filter(_ => text.ordered).map(name => column(name).isNotNull)
    placed.map(aliased.where(_)).getOrElse(aliased)
      .select(at.toSeq ++ which ++ columns ++ keys ++ none: _*)
  }

  private def read(
      session: SparkSession,
      text: ProgramText,
      place: Place,
      row: Seq[Attribute],
      behind: Seq[Attribute],
      sides: Seq[(InputText, DataFrame)]): Program = {
    val timed = sides.exists(_._1.timed)
    var next = (if (timed) 1 else 0) + (if (sides.length > 1) 1 else 0)
    val inputs = sides.map { case (input, _) =>
      val first = next
      next += input.columns.length
      InputPlan(input.alias, input.columns, first until next, if (timed) 0 else -1)
    }
    val columns = sides.zip(inputs).map { case ((input, _), plan) =>
      input.columns.zip(plan.columns).map { case (name, i) =>
        name.toLowerCase(java.util.Locale.ROOT) -> row(i)
      }.toMap
    }
    new ProgramReader(session, text, place, row, behind, inputs, columns).read()
  }

  private def transform(
      program: Program,
      process: KeyedProcess,
      row: Seq[Attribute],
      keys: Seq[Attribute],
      child: LogicalPlan): LogicalPlan = {
    // Spark needs to know that there may be an initial state; `StateWriter` writes it.
    val none = LocalRelation(DataTypeUtils.toAttributes(program.keys))
    val keySchema = DataTypeUtils.fromAttributes(keys)
    val made = new TransformWithState(
      WholeRow(),
      WholeRow(),
      keys,
      row,
      process.asInstanceOf[StatefulProcessor[Any, Any, Any]],
      program.timeMode,
      OutputMode.Append(),
      RowEncoders.of(keySchema).asInstanceOf[ExpressionEncoder[Any]],
      AttributeReference("row", RowEncoders.row, nullable = false)(),
      child,
      hasInitialState = false,
      none.output,
      none.output,
      WholeRow(),
      none)
    SerializeFromObject(RowEncoders.columns(program.output), made)
  }

  /**
   * The columns of RETURNS; its event time is marked as one for the plan above, with the inputs'
   * delay.
   */
  private[streamc] def named(
      made: Dataset[Row], text: ProgramText, frames: Seq[DataFrame]): DataFrame = {
    val columns = text.returns.map { case (name, _) =>
      val quoted = col(s"`${name.replace("`", "``")}`")
      quoted.as(name, if (text.eventTime.exists(_.equalsIgnoreCase(name))) delay(frames) else Plain)
    }
    made.select(columns: _*)
  }

  /** The metadata of an event time, with the longest delay of these frames. */
  private def delay(frames: Seq[DataFrame]): Metadata = {
    val key = EventTimeWatermark.delayKey
    frames.flatMap(_.asInstanceOf[Dataset[_]].queryExecution.analyzed.output)
      .filter(_.metadata.contains(key)).map(_.metadata.getLong(key)).maxOption
      .map(new MetadataBuilder().putLong(key, _).build()).getOrElse(Plain)
  }
}
