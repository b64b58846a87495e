package org.apache.spark.sql.streamc

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files => JFiles, StandardCopyOption}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs._
import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, SaveMode}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.{LeafExecNode, LogicalRDD, SparkPlan}
import org.apache.spark.sql.execution.datasources.{DataSource, InsertIntoHadoopFsRelationCommand}

/**
 * Files on any Hadoop path, one call a step, for the Python side.
 *
 * A local path is used without Hadoop's checksum layer, which would leave `.crc` files beside what
 * users read.
 */
class Files(session: SparkSession) {
  private val conf = session.sessionState.newHadoopConf()

  private def fileSystem(path: Path): FileSystem = path.getFileSystem(conf) match {
    case local: LocalFileSystem => local.getRaw
    case other => other
  }

  def qualified(path: String): String = {
    val p = new Path(path)
    p.getFileSystem(conf).makeQualified(p).toString
  }

  /** The path on this machine's disk, or null when it lies on another file system. */
  def localPath(path: String): String = {
    val p = new Path(path)
    p.getFileSystem(conf) match {
      case local: LocalFileSystem => local.pathToFile(p).getPath
      case _ => null
    }
  }

  /** Whether the path, or for a glob anything that matches it, exists. */
  def matches(path: String): Boolean = {
    val p = new Path(path)
    val found = fileSystem(p).globStatus(p)
    found != null && found.nonEmpty
  }

  /** The names in a folder, sorted; empty when there is no such folder. */
  def list(folder: String): java.util.List[String] = {
    val p = new Path(folder)
    val names =
      try fileSystem(p).listStatus(p).map(_.getPath.getName).sorted.toSeq
      catch { case _: FileNotFoundException => Nil }
    names.asJava
  }

  /** The file's text, or null when there is no such file. */
  def read(path: String): String = {
    val p = new Path(path)
    try {
      val in = fileSystem(p).open(p)
      try new String(in.readAllBytes(), UTF_8) finally in.close()
    } catch { case _: FileNotFoundException => null }
  }

  /** Writes a new file that appears whole or not at all; an existing one is an error. */
  def create(path: String, text: String): Unit = {
    val target = new Path(path)
    val fs = fileSystem(target)
    if (fs.exists(target)) throw new FileAlreadyExistsException(path)
    rename(fs, temporary(fs, target, text), target)
  }

  /** Writes a file in place of what is there; readers see the old one or the new one. */
  def replace(path: String, text: String): Unit = {
    val target = new Path(path)
    val fs = fileSystem(target)
    val written = temporary(fs, target, text)
    fs match {
      case local: RawLocalFileSystem =>
        JFiles.move(local.pathToFile(written).toPath, local.pathToFile(target).toPath,
          StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
      case _ =>
        FileContext.getFileContext(fs.getUri, conf)
          .rename(written, target, Options.Rename.OVERWRITE)
    }
  }

  /** The text in a hidden file beside its target, safe on the disk. */
  private def temporary(fs: FileSystem, target: Path, text: String): Path = {
    val temporary = new Path(target.getParent, s".${target.getName}.tmp")
    val out = fs.create(temporary, true)
    try {
      out.write(text.getBytes(UTF_8))
      out.hsync()
    } finally out.close()
    temporary
  }

  /**
   * Moves each file to its new name. A file that is already there (an interrupted call is being
   * repeated) is left; an unlike file of that name is an error.
   */
  def move(from: java.util.List[String], to: java.util.List[String]): Unit =
    from.asScala.zip(to.asScala).foreach { case (source, target) =>
      val (s, t) = (new Path(source), new Path(target))
      val fs = fileSystem(s)
      if (fs.exists(s)) {
        if (fs.exists(t)) {
          if (fs.getFileStatus(s).getLen != fs.getFileStatus(t).getLen) {
            throw new FileAlreadyExistsException(target)
          }
          // A store without renames copies and then deletes: it was stopped between the two.
          fs.delete(s, false)
        } else rename(fs, s, t)
      } else if (!fs.exists(t)) throw new FileNotFoundException(source)
    }

  def delete(paths: java.util.List[String]): Unit = paths.asScala.foreach { path =>
    val p = new Path(path)
    fileSystem(p).delete(p, true)
  }

  private def rename(fs: FileSystem, from: Path, to: Path): Unit =
    if (!fs.rename(from, to)) throw new IOException(s"cannot rename $from to $to")

  /**
   * Writes a batch to a folder of its own, replacing what an interrupted attempt left there.
   * Returns JSON: the rows written, and the name and length of each file that holds any bytes.
   */
  def write(
      frame: DataFrame,
      format: String,
      options: java.util.Map[String, String],
      folder: String): String = {
    val dataset = frame.asInstanceOf[Dataset[_]]
    val own = dataset.sparkSession
    val source = DataSource(own, format, options = options.asScala.toMap + ("path" -> folder))
    val rows = own.withActive {
      source.planForWriting(SaveMode.Overwrite, dataset.logicalPlan) match {
        case command: InsertIntoHadoopFsRelationCommand =>
          command.run(own, physicalPlan(dataset))
          command.metrics("numOutputRows").value
        case other => throw new IllegalStateException(s"$format is written by ${other.nodeName}")
      }
    }
    val p = new Path(folder)
    val files = fileSystem(p).listStatus(p).toList
      .filter(f => f.isFile && f.getLen > 0 && !"._".contains(f.getPath.getName.charAt(0)))
      .sortBy(_.getPath.getName)
    JsonMethods.compact(JObject(
      "rows" -> JLong(rows),
      "files" -> JArray(files.map(f => JObject(
        "name" -> JString(f.getPath.getName), "bytes" -> JLong(f.getLen))))))
  }
  /**
   * Spark hands a batch over as an RDD and copies each of its rows when that is read as a frame. A
   * batch that nothing has cached is written from the RDD itself.
   */
  private def physicalPlan(batch: Dataset[_]): SparkPlan = {
    val optimized = batch.queryExecution.optimizedPlan
    optimized match {
      case LogicalRDD(output, rows, _, _, _, _) => Rows(output, rows)
      case _ => batch.queryExecution.executedPlan
    }
  }
}

/** Rows that are computed already, or will be, by a plan that Spark has prepared. */
case class Rows(output: Seq[Attribute], rows: RDD[InternalRow]) extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] = rows
}
