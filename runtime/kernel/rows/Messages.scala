package org.apache.spark.sql.streamc

import java.util.{List => JavaList, Map => JavaMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Column, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.csv.CSVOptions
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.json.JSONOptionsInRead
import org.apache.spark.sql.classic.ExpressionUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Messages, each of which fits the declared columns or is malformed as a whole. */
object Messages {
  /**
   * The value of a message as a struct: `row`, and `reason` if it is malformed. Both are NULL for a
   * value that is missing or blank. With `fails`, a malformed one ends the query instead, with an
   * error that gives its `place`.
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
    val counts = new BatchCounts(2)
    val odd = new OddInstants
    Seq(counts, odd).foreach(SparkSession.active.sparkContext.register(_))
    ExpressionUtils.column(ReadMessage(
      ExpressionUtils.expression(value),
      ExpressionUtils.expression(place),
      format,
      DataType.fromJson(schema).asInstanceOf[StructType],
      options.asScala.toMap,
      required.asScala.toSeq,
      source,
      fails,
      counts,
      odd))
  }
}

/** Counts of messages without a row: malformed ones, and those whose value is missing or blank. */
private object NoRow {
  val Malformed: Seq[Long] = Seq(1, 0)
  val Blank: Seq[Long] = Seq(0, 1)
}

/** Nondeterministic to Spark, so that it is evaluated once per row and no filter moves below it. */
case class ReadMessage(
    left: Expression,
    right: Expression,
    format: String,
    schema: StructType,
    options: Map[String, String],
    required: Seq[String],
    source: String,
    fails: Boolean,
    counts: BatchCounts,
    odd: OddInstants)
  extends BinaryExpression with Nondeterministic with CodegenFallback {

  @transient private var parser: RowParser = _
  @transient private var places: Array[(Int, String)] = _

  override def dataType: DataType =
    new StructType().add("row", schema.asNullable).add("reason", StringType)

  override def nullable: Boolean = false

  override def prettyName: String = "read_message"

  override protected def initializeInternal(partitionIndex: Int): Unit = {
    parser = format match {
      case "json" =>
        new JsonRows(schema, new JSONOptionsInRead(options, "UTC", ""), Leniency.of(options))
      case "csv" =>
        new CsvRows(schema, new CSVOptions(options, false, "UTC", ""), Leniency.of(options))
      case "text" => TextRows
    }
    places = required.map(name => schema.fieldIndex(name) -> name).toArray
  }

  override protected def evalInternal(input: InternalRow): Any = {
    val value = left.eval(input).asInstanceOf[Array[Byte]]
    try {
      val row = if (value == null) null else checked(parser.parse(value, value.length))
      if (row == null) counts.add(NoRow.Blank)
      if (parser.odd.isDefined && odd.isZero) odd.add(parser.odd.get)
      InternalRow(row, null)
    } catch {
      case m: Malformed if fails =>
        throw MalformedRow(s"source `$source`", m.message, s"${right.eval(input)}")
      case m: Malformed =>
        counts.add(NoRow.Malformed)
        InternalRow(null, UTF8String.fromString(m.message))
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
