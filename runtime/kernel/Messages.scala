package org.apache.spark.sql.streamc

import java.util.{List => JavaList, Map => JavaMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.{Column, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.csv.CSVOptions
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.json.JSONOptionsInRead
import org.apache.spark.sql.classic.ExpressionUtils
import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, StreamExecution}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.util.AccumulatorV2

/** Messages, each of which fits the declared columns or is malformed as a whole. */
object Messages {
  /**
   * The value of a message as a struct: `row`, and `reason` if it is malformed. Neither is there for
   * a value that is missing or blank. With `fails`, a malformed one ends the query instead, and
   * `place` is told.
   */
  def read(
      value: Column,
      place: Column,
      format: String,
      schema: String,
      options: JavaMap[String, String],
      required: JavaList[String],
      source: String,
      fails: Boolean): Column = {
    val counts = new MessageCounts
    SparkSession.active.sparkContext.register(counts)
    ExpressionUtils.column(ReadMessage(
      ExpressionUtils.expression(value),
      ExpressionUtils.expression(place),
      format,
      DataType.fromJson(schema).asInstanceOf[StructType],
      options.asScala.toMap,
      required.asScala.toSeq,
      source,
      fails,
      counts))
  }
}

/** Messages that are no rows: how many are malformed, and how many have no value or a blank one. */
case class NoRows(malformed: Long, blank: Long) {
  def +(other: NoRows): NoRows = NoRows(malformed + other.malformed, blank + other.blank)
}

/**
 * What was no row, by query and micro-batch: one reading serves all of them. A message that is read
 * outside of a query does not count.
 */
class MessageCounts extends AccumulatorV2[NoRows, Map[String, NoRows]] {
  private var counts = Map.empty[String, NoRows]
  @transient private lazy val batch: Option[String] = Option(TaskContext.get()).flatMap { task =>
    for {
      query <- Option(task.getLocalProperty(StreamExecution.QUERY_ID_KEY))
      number <- Option(task.getLocalProperty(MicroBatchExecution.BATCH_ID_KEY))
    } yield MessageCounts.key(query, number)
  }

  /** What a batch of a query had, once: it is forgotten then. */
  def take(query: String, number: String): NoRows = synchronized {
    val key = MessageCounts.key(query, number)
    val found = counts.getOrElse(key, NoRows(0, 0))
    counts -= key
    found
  }

  override def add(found: NoRows): Unit = batch.foreach(add(_, found))

  private def add(key: String, found: NoRows): Unit = synchronized {
    counts += key -> counts.get(key).map(_ + found).getOrElse(found)
  }

  override def merge(other: AccumulatorV2[NoRows, Map[String, NoRows]]): Unit =
    other.value.foreach { case (key, found) => add(key, found) }

  override def value: Map[String, NoRows] = synchronized(counts)
  override def isZero: Boolean = value.isEmpty
  override def reset(): Unit = synchronized { counts = Map.empty }
  override def copy(): MessageCounts = {
    val other = new MessageCounts
    other.merge(this)
    other
  }
}

private object MessageCounts {
  def key(query: String, number: String): String = s"$query/$number"
}

/** Not deterministic for Spark: so it is evaluated once a row, and no filter is moved below it. */
case class ReadMessage(
    left: Expression,
    right: Expression,
    format: String,
    schema: StructType,
    options: Map[String, String],
    required: Seq[String],
    source: String,
    fails: Boolean,
    counts: MessageCounts)
  extends BinaryExpression with Nondeterministic with CodegenFallback {

  @transient private var parser: RowParser = _
  @transient private var places: Array[(Int, String)] = _

  override def dataType: DataType =
    new StructType().add("row", schema.asNullable).add("reason", StringType)

  override def nullable: Boolean = false

  override def prettyName: String = "read_message"

  override protected def initializeInternal(partitionIndex: Int): Unit = {
    parser = format match {
      case "json" => new JsonRows(schema, new JSONOptionsInRead(options, "UTC", ""))
      case "csv" => new CsvRows(schema, new CSVOptions(options, false, "UTC", ""))
      case "text" => TextRows
    }
    places = required.map(name => schema.fieldIndex(name) -> name).toArray
  }

  override protected def evalInternal(input: InternalRow): Any = {
    val value = left.eval(input).asInstanceOf[Array[Byte]]
    try {
      val row = if (value == null) null else checked(parser.parse(value, value.length))
      if (row == null) counts.add(NoRows(0, 1))
      InternalRow(row, null)
    } catch {
      case m: Malformed if fails =>
        throw MalformedRow(s"source `$source`", m.told, s"${right.eval(input)}")
      case m: Malformed =>
        counts.add(NoRows(1, 0))
        InternalRow(null, UTF8String.fromString(m.told))
    }
  }

  private def checked(row: InternalRow): InternalRow = {
    if (row != null) {
      places.foreach { case (i, name) =>
        if (row.isNullAt(i)) throw new Malformed(s"NULL in `$name`, which is NOT NULL")
      }
    }
    row
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression, newRight: Expression): Expression =
    copy(left = newLeft, right = newRight)
}

/** The bytes as one column of text. */
object TextRows extends RowParser {
  override def parse(bytes: Array[Byte], length: Int): InternalRow = {
    val text = UTF8String.fromBytes(bytes, 0, length)
    if (!text.isValid) throw new Malformed("not UTF-8")
    InternalRow(text)
  }
}
