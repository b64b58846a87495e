package org.apache.spark.sql.streamc

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** The kernel's small files without a Spark. */
class Entrants(files: WholeFiles) {
  def create(path: Path, text: String): Unit = files.create(path, text)
  def version(path: Path): String = files.version(path).map(_.token).orNull
  def exchange(path: Path, text: String, expected: String): Boolean =
    files.exchange(path, text, expected)
}

object Entrants {
  def of(path: Path, conf: Configuration): Entrants =
    new Entrants(WholeFiles.of(path.getFileSystem(conf), path, conf))
}
