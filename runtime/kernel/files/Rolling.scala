package org.apache.spark.sql.streamc

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.mapreduce.{Job, TaskAttemptContext}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.datasources.{FileFormat, OutputWriter, OutputWriterFactory}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.util.CollectionAccumulator

/**
 * A file format that begins a new file when one has about `limit` bytes, and reports the rows of
 * each file as `name/rows`.
 */
class Rolling(inner: FileFormat, limit: Long, counts: CollectionAccumulator[String])
    extends FileFormat {
  override def inferSchema(
      session: SparkSession,
      options: Map[String, String],
      files: Seq[FileStatus]): Option[StructType] = inner.inferSchema(session, options, files)

  override def supportDataType(dataType: DataType): Boolean = inner.supportDataType(dataType)

  override def supportFieldName(name: String): Boolean = inner.supportFieldName(name)

  override def toString: String = inner.toString

  override def prepareWrite(
      session: SparkSession,
      job: Job,
      options: Map[String, String],
      schema: StructType): OutputWriterFactory =
    new RollingFactory(inner.prepareWrite(session, job, options, schema), limit, counts)
}

class RollingFactory(inner: OutputWriterFactory, limit: Long, counts: CollectionAccumulator[String])
    extends OutputWriterFactory {
  override def getFileExtension(context: TaskAttemptContext): String =
    inner.getFileExtension(context)

  override def newInstance(
      path: String,
      schema: StructType,
      context: TaskAttemptContext): OutputWriter =
    new RollingWriter(path, inner.newInstance(_, schema, context), context, limit, counts)
}

/**
 * Writes further files next to the first, in the task's own folder, which is committed as a whole.
 *
 * Not every store can report the length of an open file, and some formats buffer much of it in
 * memory. So the length is estimated from the size of its rows in memory and the ratio seen in
 * earlier files; a length that can be read counts if it is greater.
 */
class RollingWriter(
    first: String,
    open: String => OutputWriter,
    context: TaskAttemptContext,
    limit: Long,
    counts: CollectionAccumulator[String])
    extends OutputWriter {
  private var number = 0
  private var current = open(first)
  private var rows = 0L
  private var held = 0L
  private var perByte = 1.0

  override def path(): String = first

  override def write(row: InternalRow): Unit = {
    if (limit > 0 && rows > 0 && isFull) {
      closeFile()
      number += 1
      current = open(place)
    }
    current.write(row)
    rows += 1
    row match {
      case unsafe: UnsafeRow => held += unsafe.getSizeInBytes
      case _ =>
    }
  }

  override def close(): Unit = closeFile()

  private def isFull: Boolean =
    held * perByte >= limit || (rows % RollingWriter.Look == 0 && length >= limit)

  private def closeFile(): Unit = {
    current.close()
    counts.add(s"${new Path(place).getName}/$rows")
    if (held > 0) perByte = math.max(length.toDouble, 1.0) / held
    rows = 0
    held = 0
  }

  private def length: Long =
    try {
      val p = new Path(place)
      p.getFileSystem(context.getConfiguration).getFileStatus(p).getLen
    } catch { case _: java.io.IOException => 0L }

  private def place: String = RollingWriter.path(first, number)
}

object RollingWriter {
  /** Rows between two checks of an open file's length. */
  val Look = 1000

  /** `…/part-00000-c000.snappy.parquet` is followed by `…/part-00000-c000-r001.snappy.parquet`. */
  def path(first: String, number: Int): String = {
    val p = new Path(first)
    val (stem, ending) = p.getName.span(_ != '.')
    if (number == 0) first else new Path(p.getParent, f"$stem-r$number%03d$ending").toString
  }
}
