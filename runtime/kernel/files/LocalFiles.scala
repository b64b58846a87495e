package org.apache.spark.sql.streamc

import java.io.{File, OutputStream}
import java.net.URI
import java.nio.file.{FileAlreadyExistsException, NoSuchFileException}
import java.nio.file.{Files => Disk, Path => JPath, Paths => JPaths}
import java.nio.file.attribute.PosixFilePermission._
import java.nio.file.attribute.PosixFilePermissions

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission

import org.apache.spark.{SparkContext, SparkEnv}

/**
 * Hadoop's local file system without its processes.
 *
 * Without its native library, which Spark does not ship, Hadoop starts `chmod` for each file that
 * it writes and `readlink` for each that it renames: a dozen processes per micro-batch.
 */
class LocalFiles extends LocalFileSystem(new RawLocalFiles)

/** The same for Hadoop's other file system API, through which checkpoints are written. */
class LocalFileContext(uri: URI, conf: Configuration)
    extends ChecksumFs(new RawLocalFileContext(uri, conf))

private class RawLocalFileContext(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, new RawLocalFiles, conf, "file", false) {
  override def getUriDefaultPort: Int = -1

  /** Any name that the disk accepts, as in Hadoop's local files. */
  override def isValidName(name: String): Boolean = true
}

private class RawLocalFiles extends RawLocalFileSystem {
  override protected def createOutputStreamWithMode(
      path: Path, append: Boolean, permission: FsPermission): OutputStream = {
    val file = pathToFile(path).toPath
    val made = LocalFiles.makePrivate(file)
    val out = super.createOutputStreamWithMode(path, append, permission)
    if (made) LocalFiles.restrict(file)
    out
  }

  override protected def mkOneDirWithMode(
      path: Path, folder: File, permission: FsPermission): Boolean = {
    val made = super.mkOneDirWithMode(path, folder, permission)
    if (made) LocalFiles.restrict(folder.toPath)
    made
  }

  override def setPermission(path: Path, permission: FsPermission): Unit =
    if (LocalFiles.isPrivate(pathToFile(path).toPath)) LocalFiles.restrict(pathToFile(path).toPath)
    else if (permission.getStickyBit) super.setPermission(path, permission)
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
  /** Folders in which each file has the permissions of its folder, and no others. */
  @volatile private var privateFolders = Set.empty[JPath]

  def keepPrivate(folder: String): Unit = synchronized {
    privateFolders += JPaths.get(folder).toAbsolutePath.normalize
  }

  /** Whether a file is below such a folder. */
  def isPrivate(file: JPath): Boolean = {
    val folders = privateFolders
    folders.nonEmpty && {
      val path = file.toAbsolutePath.normalize
      folders.exists(folder => path.startsWith(folder) && path != folder)
    }
  }

  /**
   * Creates a file that only its owner can read, if it is below such a folder; returns whether it
   * is.
   */
  def makePrivate(file: JPath): Boolean = isPrivate(file) && {
    if (!Disk.exists(file)) {
      Disk.createDirectories(file.getParent)
      try Disk.createFile(file, PosixFilePermissions.asFileAttribute(Owner))
      catch { case _: FileAlreadyExistsException | _: UnsupportedOperationException => }
    }
    true
  }

  /** Gives the group of a file or folder the permissions that it has on the parent folder. */
  def restrict(file: JPath): Unit = if (isPrivate(file)) {
    try {
      val above = Disk.getPosixFilePermissions(file.getParent).asScala
      val folder = Disk.isDirectory(file)
      val allowed = if (folder) OwnersFolder ++ above.filter(Group.contains)
        else Owner.asScala ++ above.filter(Group.contains).filter(_ != GROUP_EXECUTE)
      Disk.setPosixFilePermissions(file, allowed.toSet.asJava)
    } catch { case _: UnsupportedOperationException | _: NoSuchFileException => }
  }

  private val Owner = PosixFilePermissions.fromString("rw-------")
  private val OwnersFolder = PosixFilePermissions.fromString("rwx------").asScala
  private val Group = Set(GROUP_READ, GROUP_WRITE, GROUP_EXECUTE)

  private val Impl = "fs.file.impl"
  private val ContextImpl = "fs.AbstractFileSystem.file.impl"

  /**
   * Replaces Hadoop's local file system for every file opened from now on.
   *
   * Only in a local Spark, which has one process: an executor elsewhere may look up a file system
   * before it has the kernel. A file system that the user has configured stays.
   */
  def install(context: SparkContext): Unit = {
    val conf = context.hadoopConfiguration
    if (context.isLocal && conf.get(Impl) == null) {
      conf.set(Impl, classOf[LocalFiles].getName)
      conf.set(ContextImpl, classOf[LocalFileContext].getName)
      val opened = FileSystem.get(FsConstants.LOCAL_FS_URI, conf)
      // Hadoop caches what it has opened.
      if (!opened.isInstanceOf[LocalFiles]) opened.close()
    }
    // Blocks that do not fit in memory are spilled there; Spark makes these folders readable for
    // all.
    if (context.isLocal) SparkEnv.get.blockManager.diskBlockManager.localDirs.foreach { folder =>
      try Disk.setPosixFilePermissions(folder.toPath, OwnersFolder.asJava)
      catch { case _: UnsupportedOperationException => }
    }
  }
}
