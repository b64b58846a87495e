package org.apache.spark.sql.streamc

import org.json4s.JsonAST._

import org.apache.spark.rdd.{InputFileBlockHolder, RDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.datasources.text.TextFileFormat
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution

/** Where the rows of a leaf come from; one instance serves one task. */
private[streamc] class LeafPlace extends Serializable {
  /** Called for each further row. */
  def pass(): Unit = ()
  def of(row: InternalRow): Option[String] = None
}

private[streamc] object LeafPlace {
  def of(leaf: SparkPlan): LeafPlace = leaf match {
    case files: FileSourceScanExec => files.relation.fileFormat match {
      case _: StrictFiles => new PlaceOfLine
      case _: TextFileFormat => new PlaceOfCount(":")
      case _ => new PlaceOfCount(", row ")
    }
    case table: RowDataSourceScanExec => table.relation match {
      case own: TableRelation => new PlaceInTable(own.table.owner)
      case _ => new LeafPlace
    }
    case other =>
      val at = Seq("topic", "partition", "offset").map(name => other.output.indexWhere(_.name == name))
      if (at.forall(_ >= 0)) new PlaceOfMessage(at) else new LeafPlace
  }
}

private class PlaceOfLine extends LeafPlace {
  override def of(row: InternalRow): Option[String] =
    Option(FileRows.here.get).map(rows => s"at ${rows.position}")
}

/** The number of a row in its file, which is read from the beginning. */
private class PlaceOfCount(before: String) extends LeafPlace {
  private var file = ""
  private var count = 0L

  override def pass(): Unit = {
    val now = InputFileBlockHolder.getInputFilePath.toString
    if (now != file) {
      file = now
      count = 0
    }
    count += 1
  }

  override def of(row: InternalRow): Option[String] =
    if (InputFileBlockHolder.getStartOffset == 0) Some(s"at $file$before$count")
    else Some(s"in $file")
}

private class PlaceOfMessage(at: Seq[Int]) extends LeafPlace {
  override def of(row: InternalRow): Option[String] = Some(
    s"at ${row.getUTF8String(at(0))}-${row.getInt(at(1))}@${row.getLong(at(2))}")
}

private class PlaceInTable(table: String) extends LeafPlace {
  override def of(row: InternalRow): Option[String] = Some(s"in a row of $table")
}

/** What a batch has read of each source: the first and the last few files or partitions. */
private[streamc] object BatchInput {
  def of(query: StreamExecution): Seq[JValue] = {
    val leaves = new Leaves(query)
    query.lastExecution.executedPlan.collectLeaves().flatMap { leaf =>
      val (kind, parts) = read(leaf)
      leaves.source(leaf).filter(name => name.nonEmpty && parts.nonEmpty).map { source =>
        JObject(
          "source" -> JString(source.split("__").head),
          "kind" -> JString(kind),
          "first" -> JString(parts.head),
          "last" -> JString(parts.last),
          "count" -> JInt(parts.size))
      }
    }.distinct
  }

  private def read(leaf: SparkPlan): (String, Seq[String]) = leaf match {
    case files: FileSourceScanExec if files.relation.location.sizeInBytes > 0 =>
      "files" -> files.relation.location.inputFiles.sorted.toSeq
    case RDDScanExec(_, rows, _, _, _, _) => "partitions" -> messages(origin(rows))
    case _ => "" -> Nil
  }

  /** The ranges of a topic's partitions, whose classes only Kafka's own package may name. */
  private def messages(rows: RDD[_]): Seq[String] = rows.partitions.toSeq
    .collect { case part: Product => part.productIterator.toSeq }
    .collect { case Seq(_, range: Product) => range.productIterator.toSeq }
    .collect {
      case Seq(topic, from: Long, until: Long, _*) if until > from => s"$topic@$from to @${until - 1}"
    }

  private def origin(rows: RDD[_]): RDD[_] =
    rows.dependencies.headOption.map(d => origin(d.rdd)).getOrElse(rows)
}
