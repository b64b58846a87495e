package org.apache.spark.sql.streamc

import java.net.URI
import java.nio.file.{Files => Disk}
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission

import org.apache.spark.SparkContext

/**
 * Hadoop's local file system without its processes.
 *
 * Where Hadoop has no native library, and Spark ships none, it starts `chmod` for each file that it
 * writes and `readlink` for each that it renames: a dozen for a micro-batch.
 */
class LocalFiles extends LocalFileSystem(new RawLocalFiles)

/** The same as Hadoop's other interface to file systems, which its checkpoints are written by. */
class LocalFileContext(uri: URI, conf: Configuration)
    extends ChecksumFs(new RawLocalFileContext(uri, conf))

private class RawLocalFileContext(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, new RawLocalFiles, conf, "file", false) {
  override def getUriDefaultPort: Int = -1

  /** Any name that the disk takes, as Hadoop has it for local files. */
  override def isValidName(name: String): Boolean = true
}

private class RawLocalFiles extends RawLocalFileSystem {
  override def setPermission(path: Path, permission: FsPermission): Unit =
    if (permission.getStickyBit) super.setPermission(path, permission)
    else {
      val modes = PosixFilePermissions.fromString(permission.toString)
      try Disk.setPosixFilePermissions(pathToFile(path).toPath, modes)
      catch { case _: UnsupportedOperationException => super.setPermission(path, permission) }
    }

  override def getFileLinkStatus(path: Path): FileStatus =
    if (Disk.isSymbolicLink(pathToFile(path).toPath)) super.getFileLinkStatus(path)
    else getFileStatus(path)
}

object LocalFiles {
  private val Impl = "fs.file.impl"
  private val ContextImpl = "fs.AbstractFileSystem.file.impl"

  /**
   * Puts it in the place of Hadoop's, for all that opens a local file from now on.
   *
   * In a local Spark only, which has one process: an executor elsewhere may look for a file system
   * before it has the kernel. A file system that the user has chosen stays.
   */
  def install(context: SparkContext): Unit = {
    val conf = context.hadoopConfiguration
    if (context.isLocal && conf.get(Impl) == null) {
      conf.set(Impl, classOf[LocalFiles].getName)
      conf.set(ContextImpl, classOf[LocalFileContext].getName)
      val opened = FileSystem.get(FsConstants.LOCAL_FS_URI, conf)
      // Hadoop keeps what it has opened for whoever asks next.
      if (!opened.isInstanceOf[LocalFiles]) opened.close()
    }
  }
}
