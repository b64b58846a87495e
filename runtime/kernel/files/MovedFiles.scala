package org.apache.spark.sql.streamc

import scala.jdk.CollectionConverters._

import org.json4s.JsonAST._

import org.apache.hadoop.fs.{GlobExpander, GlobPattern, Path}

import org.apache.spark.deploy.SparkHadoopUtil
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{DataSource, FileFormat}
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceLog

/**
 * A file source whose folder is not the one whose files it has read.
 *
 * Spark identifies a file by its full path: a copy in another folder is a new file.
 */
private[streamc] object MovedFiles {

  /**
   * The folder that such a source has read and how many files, the folder that it reads now, and
   * how many files there share a name with one that was read, with an example; None if it reads the
   * same folder.
   */
  def of(session: SparkSession, data: DataSource, log: String): Option[JObject] = {
    val files = new Files(session)
    if (!data.providingInstance().isInstanceOf[FileFormat]) None
    else for {
      path <- data.options.get("path").orElse(data.paths.headOption)
      read = new FileStreamSourceLog(FileStreamSourceLog.VERSION, session, log)
      (_, newest) <- read.getLatest()
      // Each alternative of a pattern is a folder.
      places = GlobExpander.expand(path).asScala.map(one => new Path(files.qualified(one)))
      example <- newest.headOption
      if !newest.exists(file => places.exists(place => covers(place, file.sparkPath.toPath)))
    } yield {
      val names = read.allFiles().map(_.sparkPath.toPath.getName).toSet
      val same = files.within(path).map(_.getName).filter(names.contains)
      JObject(
        "before" -> JString(example.sparkPath.toPath.getParent.toString),
        "known" -> JInt(names.size),
        "now" -> JString(path),
        "same" -> JInt(same.size),
        "example" -> same.minOption.map(JString(_)).getOrElse(JNull))
    }
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
}
