package org.apache.spark.sql.streamc

import scala.jdk.CollectionConverters._

import org.json4s.JsonAST._

import org.apache.hadoop.fs.{GlobExpander, GlobPattern, Path}

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
  def of(session: SparkSession, data: DataSource, log: String): Option[JObject] = {
    val files = new Files(session)
    if (!data.providingInstance().isInstanceOf[FileFormat]) None
    else for {
      path <- data.options.get("path").orElse(data.paths.headOption)
      read = new FileStreamSourceLog(FileStreamSourceLog.VERSION, session, log)
      (_, newest) <- read.getLatest()
      // Of a pattern with alternatives each is a place.
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
