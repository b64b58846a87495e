package org.apache.spark.sql.streamc

import java.io.{FileNotFoundException, IOException, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
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
 * Files on any Hadoop path, one call per step, for the Python side.
 *
 * A local path bypasses Hadoop's checksum layer, which would leave `.crc` files next to what users
 * read.
 */
class Files(conf: Configuration) {
  def this(session: SparkSession) = this(session.sessionState.newHadoopConf())

  private def fileSystem(path: Path): FileSystem = path.getFileSystem(conf) match {
    case local: LocalFileSystem => local.getRaw
    case other => other
  }

  def qualified(path: String): String = {
    val p = new Path(path)
    p.getFileSystem(conf).makeQualified(p).toString
  }

  /** The path on this machine's disk, or null if it is on another file system. */
  def localPath(path: String): String = {
    val p = new Path(path)
    p.getFileSystem(conf) match {
      case local: LocalFileSystem => local.pathToFile(p).getPath
      case _ => null
    }
  }

  /** Whether the path exists, or for a glob anything that matches it. */
  def matches(path: String): Boolean = {
    val p = new Path(path)
    val found = fileSystem(p).globStatus(p)
    found != null && found.nonEmpty
  }

  /** The files that a path or a pattern denotes, including all those in its folders. */
  private[streamc] def within(path: String): Seq[Path] = {
    val p = new Path(path)
    val fs = fileSystem(p)
    val (folders, files) = Option(fs.globStatus(p)).toSeq.flatten.partition(_.isDirectory)
    files.map(_.getPath) ++ folders.flatMap { folder =>
      val found = fs.listFiles(folder.getPath, true)
      Iterator.continually(found).takeWhile(_.hasNext).map(_.next().getPath)
    }
  }

  /** The names in a folder, sorted; empty if there is no such folder. */
  def names(folder: String): Seq[String] = {
    val p = new Path(folder)
    try fileSystem(p).listStatus(p).map(_.getPath.getName).sorted.toSeq
    catch { case _: FileNotFoundException => Nil }
  }

  /** The same as a JSON array. */
  def list(folder: String): String =
    JsonMethods.compact(JArray(names(folder).map(JString(_)).toList))

  /** The file's text, or null if there is no such file. */
  def read(path: String): String = {
    val p = new Path(path)
    try {
      val in = fileSystem(p).open(p)
      try new String(in.readAllBytes(), UTF_8) finally in.close()
    } catch { case _: FileNotFoundException => null }
  }

  /** When a file was last written, in milliseconds by its file system's clock; -1 if absent. */
  def modified(path: String): Long = {
    val p = new Path(path)
    try fileSystem(p).getFileStatus(p).getModificationTime
    catch { case _: FileNotFoundException => -1L }
  }

  private def whole(path: Path): WholeFiles = WholeFiles.of(fileSystem(path), path, conf)

  /** Why two writers can't be kept apart in a folder, or null. */
  def refusal(folder: String): String = {
    val p = new Path(folder)
    whole(p).refusal(p)
  }

  /**
   * Creates a file atomically; an existing one is an error. Returns null, or why two writers can't
   * be kept apart there.
   */
  def create(path: String, text: String): String = {
    val target = new Path(path)
    whole(target) match {
      case unsafe: UnsafeFiles => unsafe.refusal(target.getParent)
      case files => files.create(target, text); null
    }
  }

  /** Replaces a file atomically: readers see the old content or the new. */
  def replace(path: String, text: String): Unit = {
    val target = new Path(path)
    whole(target).replace(target, text)
  }

  /** The newest version of a file as JSON, or null: text, token, milliseconds when it was written. */
  def version(path: String): String = {
    val p = new Path(path)
    whole(p).version(p).map { found =>
      JsonMethods.compact(JArray(
        List(JString(found.text), JString(found.token), JLong(found.modified))))
    }.orNull
  }

  /** Writes the version after the one with this token, the first after null; whether it could. */
  def exchange(path: String, text: String, expected: String): Boolean = {
    val p = new Path(path)
    whole(p).exchange(p, text, expected)
  }

  /**
   * Moves each file to its new name. A target that already exists (an interrupted call is being
   * repeated) is left alone; one of another length is an error.
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
          // A store without renames copies, then deletes: it was interrupted in between.
          fs.delete(s, false)
        } else rename(fs, s, t)
      } else if (!fs.exists(t)) throw new FileNotFoundException(source)
    }

  /** The lengths of the files in a folder whose names start with `prefix`, by name, as JSON. */
  def lengths(folder: String, prefix: String): String = {
    val p = new Path(folder)
    val found =
      try fileSystem(p).listStatus(p).toSeq catch { case _: FileNotFoundException => Nil }
    JsonMethods.compact(JObject(found.filter(f => f.isFile && f.getPath.getName.startsWith(prefix))
      .map(f => f.getPath.getName -> (JLong(f.getLen): JValue)).toList))
  }

  /** Whether a file that Spark wrote can be read to its end, verified by its store's checksums. */
  def intact(path: String): Boolean = {
    val p = new Path(path)
    try {
      val in = p.getFileSystem(conf).open(p)
      try { in.transferTo(OutputStream.nullOutputStream()); true } finally in.close()
    } catch { case _: IOException => false }
  }

  def delete(paths: java.util.List[String]): Unit = paths.asScala.foreach { path =>
    val p = new Path(path)
    fileSystem(p).delete(p, true)
  }

  private def rename(fs: FileSystem, from: Path, to: Path): Unit =
    if (!fs.rename(from, to)) throw new IOException(s"cannot rename $from to $to")

  /**
   * Writes a batch to a folder of its own, replacing what an interrupted attempt left there. A new
   * file begins when one has about `roll` bytes, unless that is zero. Returns JSON: the rows
   * written, and the name, length and rows of each file that has rows.
   */
  def write(
      frame: DataFrame,
      format: String,
      options: java.util.Map[String, String],
      folder: String,
      roll: Long): String = {
    val dataset = frame.asInstanceOf[Dataset[_]]
    val own = dataset.sparkSession
    val source = DataSource(own, format, options = options.asScala.toMap + ("path" -> folder))
    val counts = own.sparkContext.collectionAccumulator[String]
    own.withActive {
      source.planForWriting(SaveMode.Overwrite, dataset.logicalPlan) match {
        case command: InsertIntoHadoopFsRelationCommand =>
          command.copy(fileFormat = new Rolling(command.fileFormat, roll, counts))
            .run(own, physicalPlan(dataset))
        case other => throw new IllegalStateException(s"$format is written by ${other.nodeName}")
      }
    }
    val rows = counts.value.asScala.map { line =>
      val end = line.lastIndexOf('/')
      line.substring(0, end) -> line.substring(end + 1).toLong
    }.toMap
    val p = new Path(folder)
    val files = fileSystem(p).listStatus(p).toList
      .filter(f => f.isFile && rows.getOrElse(f.getPath.getName, 0L) > 0)
      .sortBy(_.getPath.getName.replace('.', ' '))
    JsonMethods.compact(JObject(
      "rows" -> JLong(rows.values.sum),
      "files" -> JArray(files.map { f =>
        val name = f.getPath.getName
        JObject("name" -> JString(name), "bytes" -> JLong(f.getLen), "rows" -> JLong(rows(name)))
      })))
  }

  /**
   * Spark hands over a batch as an RDD and copies each of its rows when it is read as a frame. A
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

/** Rows that a plan prepared by Spark computes, or has computed. */
case class Rows(output: Seq[Attribute], rows: RDD[InternalRow]) extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] = rows
}
