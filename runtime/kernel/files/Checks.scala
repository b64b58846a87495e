package org.apache.spark.sql.streamc

import java.io.{FileNotFoundException, IOException}
import java.util.concurrent.{Callable, Executors}
import java.util.zip.CRC32

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileUtil, Path}
import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods

/** Trees, checksums and copies on a file system other than this machine's disk. */
class Checks(conf: Configuration) {
  /** All files below a folder, by their paths relative to it, as a JSON array. */
  def tree(folder: String): String = {
    val root = new Path(folder)
    val fs = root.getFileSystem(conf)
    val base = fs.makeQualified(root).toUri.getPath.stripSuffix("/") + "/"
    val found = mutable.ArrayBuffer.empty[String]
    try {
      val files = fs.listFiles(root, true)
      while (files.hasNext) found += files.next().getPath.toUri.getPath.stripPrefix(base)
    } catch { case _: FileNotFoundException => }
    JsonMethods.compact(JArray(found.sorted.map(JString(_)).toList))
  }

  /** The bytes of a file, or null if there is no such file. */
  def content(path: String): Array[Byte] = {
    val p = new Path(path)
    try {
      val in = p.getFileSystem(conf).open(p)
      try in.readAllBytes() finally in.close()
    } catch { case _: FileNotFoundException => null }
  }

  /** `{path: [length, CRC-32]}` for those of the files that exist, several read in parallel. */
  def sums(paths: String): String = {
    val JArray(wanted) = JsonMethods.parse(paths): @unchecked
    val names = wanted.collect { case JString(path) => path }
    val pool = Executors.newFixedThreadPool(Checks.Threads)
    try {
      val tasks = names.map(path => new Callable[Option[JField]] {
        override def call(): Option[JField] = sum(path)
      })
      JsonMethods.compact(JObject(pool.invokeAll(tasks.asJava).asScala.flatMap(_.get).toList))
    } finally pool.shutdown()
  }

  private def sum(path: String): Option[JField] = {
    val p = new Path(path)
    try {
      val in = p.getFileSystem(conf).open(p)
      try {
        val crc = new CRC32
        val block = new Array[Byte](1 << 20)
        var size = 0L
        var read = in.read(block)
        while (read >= 0) {
          crc.update(block, 0, read)
          size += read
          read = in.read(block)
        }
        Some(path -> JArray(List(JLong(size), JString(f"${crc.getValue}%08x"))))
      } finally in.close()
    } catch { case _: FileNotFoundException => None }
  }

  def copy(source: String, target: String): Unit = {
    val (s, t) = (new Path(source), new Path(target))
    val fs = s.getFileSystem(conf)
    fs.mkdirs(t.getParent)
    if (!FileUtil.copy(fs, s, fs, t, false, true, conf)) {
      throw new IOException(s"cannot copy $source to $target")
    }
  }

  def rename(source: String, target: String): Unit = {
    val (s, t) = (new Path(source), new Path(target))
    val fs = s.getFileSystem(conf)
    if (fs.exists(t)) throw new IOException(s"$target already exists")
    if (!fs.rename(s, t)) throw new IOException(s"cannot rename $source to $target")
  }
}

private object Checks {
  val Threads = 8
}
