package org.apache.spark.sql.streamc

import scala.jdk.CollectionConverters._

import org.json4s.JsonAST._

import org.apache.hadoop.fs.{FileSystem, GlobExpander, GlobPattern, Path}

import org.apache.spark.deploy.SparkHadoopUtil
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{DataSource, FileFormat}
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceLog

/**
 * A source of files whose folder is another than that of the files that it has read.
 *
 * Spark knows a file that it has read by its whole path: a copy in another folder is a new one to it.
 */
private[streamc] object MovedFiles {

  /**
   * Where such a source has read so far and how many files, where it reads now, and how many files
   * there have the name of one that was read, with an example; none when it reads where it did.
   */
  def of(session: SparkSession, data: DataSource, log: String): Option[JObject] =
    if (!data.providingInstance().isInstanceOf[FileFormat]) None
    else for {
      path <- data.options.get("path").orElse(data.paths.headOption)
      read = new FileStreamSourceLog(FileStreamSourceLog.VERSION, session, log)
      (_, newest) <- read.getLatest()
      places = expanded(session, path)
      example <- newest.headOption
      if !newest.exists(file => places.exists(place => covers(place, file.sparkPath.toPath)))
    } yield {
      val names = read.allFiles().map(_.sparkPath.toPath.getName).toSet
      val same = files(session, path).map(_.getName).filter(names.contains)
      JObject(
        "before" -> JString(example.sparkPath.toPath.getParent.toString),
        "known" -> JInt(names.size),
        "now" -> JString(path),
        "same" -> JInt(same.size),
        "example" -> same.minOption.map(JString(_)).getOrElse(JNull))
    }

  /** The path, or of a pattern with alternatives all that it may be, each a pattern in every part. */
  private def expanded(session: SparkSession, path: String): Seq[Path] =
    if (!isPattern(path)) Seq(system(session, new Path(path)).makeQualified(new Path(path)))
    else GlobExpander.expand(path).asScala.toSeq.map { one =>
      system(session, new Path(one)).makeQualified(new Path(one))
    }

  private def covers(place: Path, file: Path): Boolean = {
    val (wanted, found) = (parts(place), parts(file))
    place.toUri.getScheme == file.toUri.getScheme &&
    place.toUri.getAuthority == file.toUri.getAuthority &&
    found.length >= wanted.length && wanted.zip(found).forall { case (pattern, name) =>
      if (isPattern(pattern)) new GlobPattern(pattern).matches(name) else pattern == name
    }
  }

  private def parts(path: Path): Seq[String] =
    Iterator.iterate(path)(_.getParent).takeWhile(_.getParent != null).map(_.getName).toSeq.reverse

  private def isPattern(path: String): Boolean = SparkHadoopUtil.get.isGlobPath(new Path(path))

  private def files(session: SparkSession, path: String): Seq[Path] = {
    val from = new Path(path)
    val fs = system(session, from)
    val found = Option(fs.globStatus(from)).map(_.toSeq).getOrElse(Nil)
    found.filter(_.isFile).map(_.getPath) ++
      found.filter(_.isDirectory).flatMap(folder => within(fs, folder.getPath))
  }

  private def within(fs: FileSystem, folder: Path): Seq[Path] = {
    val found = fs.listFiles(folder, true)
    Iterator.continually(found).takeWhile(_.hasNext).map(_.next().getPath).toSeq
  }

  private def system(session: SparkSession, path: Path): FileSystem =
    path.getFileSystem(session.sessionState.newHadoopConf())
}
