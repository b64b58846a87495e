package org.apache.spark.sql.streamc

import java.io.{FileNotFoundException, IOException}
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files => JFiles, Path => JPath, NoSuchFileException}
import java.nio.file.{StandardCopyOption, StandardOpenOption}
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._

/** A file as it was read: its text, what tells it from other versions, and when it was written. */
private[streamc] case class Version(text: String, token: String, modified: Long)

/**
 * Small files on one kind of file system. Each appears whole or not at all; of several writers that
 * create it, or that exchange one version of it, exactly one succeeds.
 */
private[streamc] trait WholeFiles {
  /** Why writers can't be kept apart there; null if they can. */
  def refusal(folder: Path): String = null

  /** Writes a new file; raises FileAlreadyExistsException when there is one. */
  def create(target: Path, text: String): Unit

  /** Writes a file in place of what is there. */
  def replace(target: Path, text: String): Unit

  /** The newest version of a file that is written by `exchange` alone. */
  def version(target: Path): Option[Version]

  /** Writes the version that follows another one, the first one if that is null; whether it could. */
  def exchange(target: Path, text: String, expected: String): Boolean
}

private[streamc] object WholeFiles {
  private val Conditional = Options.CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE
  private val ByTag = Options.CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE_ETAG

  /** Those of the file system on which a path lies, by what it says of itself there. */
  def of(fs: FileSystem, path: Path, conf: Configuration): WholeFiles = fs match {
    case local: RawLocalFileSystem => new DiskFiles(local)
    case _ if fs.hasPathCapability(path, Conditional) && fs.hasPathCapability(path, ByTag) =>
      new ConditionalFiles(fs)
    // One server orders all that happens to names, and gives each file one writer at a time.
    case _ if fs.hasPathCapability(path, CommonPathCapabilities.LEASE_RECOVERABLE) =>
      new NamedFiles(fs, conf)
    case _ => new UnsafeFiles(fs, conf)
  }

  /** A name of its own beside a target, hidden. */
  def beside(target: Path): Path = {
    val own = UUID.randomUUID.toString.take(13)
    new Path(target.getParent, s".${target.getName}.$own.tmp")
  }

  /** The text in such a file. */
  def temporary(fs: FileSystem, target: Path, text: String): Path = {
    val written = beside(target)
    val out = fs.create(written, true)
    try {
      out.write(text.getBytes(UTF_8))
      out.hsync()
    } finally out.close()
    written
  }

  def read(in: FSDataInputStream): String =
    try new String(in.readAllBytes(), UTF_8) finally in.close()
}

/** This machine's disk, where a name is given once. */
private[streamc] class DiskFiles(local: RawLocalFileSystem) extends WholeFiles {
  override def create(target: Path, text: String): Unit = {
    val written = temporary(target, text)
    try JFiles.createLink(file(target), written)
    catch {
      case e: java.nio.file.FileAlreadyExistsException =>
        throw new FileAlreadyExistsException(e.getMessage)
    } finally JFiles.delete(written)
  }

  override def replace(target: Path, text: String): Unit =
    JFiles.move(temporary(target, text), file(target),
      StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)

  override def version(target: Path): Option[Version] =
    try {
      val written = JFiles.getLastModifiedTime(file(target)).toMillis
      Some(Version(new String(JFiles.readAllBytes(file(target)), UTF_8), "", written))
    } catch { case _: NoSuchFileException => None }

  override def exchange(target: Path, text: String, expected: String): Boolean =
    throw new UnsupportedOperationException("a disk has locks for that")

  private def file(path: Path): JPath = local.pathToFile(path).toPath

  /**
   * The text in a hidden file beside its target, safe on the disk. Hadoop would start a process for
   * each file, to set its rights.
   */
  private def temporary(target: Path, text: String): JPath = {
    val written = file(WholeFiles.beside(target))
    makeFolders(written.getParent)
    LocalFiles.makePrivate(written)
    val out = FileChannel.open(written, StandardOpenOption.CREATE,
      StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)
    try {
      val bytes = ByteBuffer.wrap(text.getBytes(UTF_8))
      while (bytes.hasRemaining) out.write(bytes)
      out.force(true)
    } finally out.close()
    LocalFiles.restrict(written)
    written
  }

  /** Each with the rights of the one above, where a state lies. */
  private def makeFolders(folder: JPath): Unit = if (!JFiles.isDirectory(folder)) {
    makeFolders(folder.getParent)
    try {
      JFiles.createDirectory(folder)
      LocalFiles.restrict(folder)
    } catch { case _: java.nio.file.FileAlreadyExistsException => }
  }
}

/**
 * HDFS, and what has a name server like it: a rename is one step, and does not overwrite unless it
 * is to.
 *
 * The versions of a file are files in a folder of its name, numbered; the highest is the newest and
 * is never deleted. Who writes a number that was given before and then deleted sees a higher one.
 */
private[streamc] class NamedFiles(fs: FileSystem, conf: Configuration) extends WholeFiles {
  private lazy val names = FileContext.getFileContext(fs.getUri, conf)

  override def create(target: Path, text: String): Unit = {
    val written = temporary(target, text)
    try names.rename(written, target, Options.Rename.NONE)
    catch { case e: IOException => fs.delete(written, false); throw e }
  }

  override def replace(target: Path, text: String): Unit =
    names.rename(temporary(target, text), target, Options.Rename.OVERWRITE)

  override def version(target: Path): Option[Version] = retried {
    numbers(target).lastOption.map { number =>
      val path = numbered(target, number)
      Version(WholeFiles.read(fs.open(path)), number.toString,
        fs.getFileStatus(path).getModificationTime)
    }
  }

  override def exchange(target: Path, text: String, expected: String): Boolean = {
    val next = if (expected == null) 1L else expected.toLong + 1
    numbers(target).lastOption.getOrElse(0L) == next - 1 && {
      val created =
        try { create(numbered(target, next), text); true }
        catch { case _: FileAlreadyExistsException => false }
      created && {
        val now = numbers(target)
        val newest = now.last == next
        // The one before stays for those who have just read the list.
        if (newest) now.filter(_ < next - 1).foreach(old => fs.delete(numbered(target, old), false))
        newest
      }
    }
  }

  private def numbers(target: Path): Seq[Long] =
    try fs.listStatus(folder(target)).toSeq.map(_.getPath.getName)
      .filter(name => name.nonEmpty && name.forall(_.isDigit)).map(_.toLong).sorted
    catch { case _: FileNotFoundException => Nil }

  private def folder(target: Path): Path = target.suffix(".versions")

  private def numbered(target: Path, number: Long): Path =
    new Path(folder(target), f"$number%012d")

  /** Again, when a version went while it was read. */
  private def retried[T](body: => T): T = {
    var left = 10
    while (left > 0) {
      try return body catch { case e: FileNotFoundException => left -= 1; if (left == 0) throw e }
    }
    body
  }

  private def temporary(target: Path, text: String): Path =
    WholeFiles.temporary(fs, target, text)
}

/**
 * Object stores that write under a condition: nothing is renamed, a file is one PUT.
 *
 * Its version is the store's tag of the content: texts that follow each other must differ.
 */
private[streamc] class ConditionalFiles(fs: FileSystem) extends WholeFiles {
  import Options.CreateFileOptionKeys._

  private type Conditions = FSDataOutputStreamBuilder[_, _] => Unit

  /** A server may take the condition and not heed it: that is tried once. */
  override def refusal(folder: Path): String = {
    val probe = new Path(folder, s"control/probe-${UUID.randomUUID}")
    try {
      val first = put(probe, "1", isNew, () => exists(probe))
      if (!first) "its files can't be written"
      else if (put(probe, "2", isNew, () => exists(probe))) "it overwrites what a PUT must not"
      else {
        val tag = tagOf(probe).orNull
        if (!exchange(probe, "3", tag)) "it refuses a PUT with the tag of what is there"
        else if (exchange(probe, "4", tag)) "it overwrites by the tag of an older file"
        else null
      }
    } finally fs.delete(probe, false)
  }

  override def create(target: Path, text: String): Unit =
    if (!put(target, text, isNew, () => exists(target))) {
      throw new FileAlreadyExistsException(target.toString)
    }

  override def replace(target: Path, text: String): Unit = write(target, text, _.overwrite(true))

  override def version(target: Path): Option[Version] = {
    var left = 10
    while (true) {
      val found = try fs.getFileStatus(target) catch { case _: FileNotFoundException => return None }
      try {
        val in = fs.openFile(target).withFileStatus(found).build().get()
        return Some(Version(WholeFiles.read(in), tag(found), found.getModificationTime))
      } catch {
        // Another version was written between the two: each kind of stream says so in its own way.
        case e: IOException =>
          left -= 1
          if (left == 0 || tagOf(target).contains(tag(found))) throw e
      }
    }
    None
  }

  override def exchange(target: Path, text: String, expected: String): Boolean =
    if (expected == null) put(target, text, isNew, () => exists(target))
    else put(target, text,
      file => { file.overwrite(true); file.must(FS_OPTION_CREATE_CONDITIONAL_OVERWRITE_ETAG, expected) },
      () => !tagOf(target).contains(expected))

  private val isNew: Conditions = file => {
    file.overwrite(false)
    file.must(FS_OPTION_CREATE_CONDITIONAL_OVERWRITE, true)
  }

  /**
   * Writes a file under a condition; whether it was met. `isUnmet` looks whether it can no longer be.
   *
   * When an answer is lost the request is sent again, and refused for what it has itself written:
   * each names its writer.
   */
  private def put(
      target: Path, text: String, condition: Conditions, isUnmet: () => Boolean): Boolean = {
    val writer = UUID.randomUUID.toString
    var left = 3
    while (true) {
      try {
        write(target, text, { file =>
          condition(file)
          file.opt(ConditionalFiles.WriterOption, writer)
        })
        return true
      } catch {
        case e: IOException =>
          if (writtenBy(target, writer)) return true
          if (isUnmet()) return false
          // Two requests met, and the store let neither pass.
          left -= 1
          if (left == 0) throw e
      }
    }
    false
  }

  private def write(target: Path, text: String, conditions: Conditions): Unit = {
    val file = fs.createFile(target)
    file.recursive()
    conditions(file)
    val out = file.build().asInstanceOf[FSDataOutputStream]
    try out.write(text.getBytes(UTF_8))
    catch { case e: IOException => out.abort(); throw e }
    out.close()
  }

  private def writtenBy(target: Path, writer: String): Boolean =
    try new String(fs.getXAttr(target, ConditionalFiles.WriterAttribute), UTF_8) == writer
    catch { case _: IOException | _: UnsupportedOperationException => false }

  private def exists(target: Path): Boolean = tagOf(target).isDefined

  private def tagOf(target: Path): Option[String] =
    try Some(tag(fs.getFileStatus(target))) catch { case _: FileNotFoundException => None }

  private def tag(file: FileStatus): String = file match {
    case source: EtagSource => source.getEtag
    case _ => throw new UnsupportedOperationException(s"${fs.getUri} has no tags of files")
  }
}

private object ConditionalFiles {
  /** S3A keeps it with the object; a store that does not know the option loses only this help. */
  val WriterOption = "fs.s3a.create.header.streamc-writer"
  val WriterAttribute = "header.streamc-writer"
}

/** A file system with neither: outputs may lie there, which have one writer; no state may. */
private[streamc] class UnsafeFiles(fs: FileSystem, conf: Configuration) extends WholeFiles {
  override def refusal(folder: Path): String =
    s"${fs.getClass.getName} has no conditional writes, and does not say that its renames are one step"

  override def create(target: Path, text: String): Unit =
    throw new UnsupportedOperationException(refusal(target.getParent))

  override def replace(target: Path, text: String): Unit =
    FileContext.getFileContext(fs.getUri, conf).rename(
      WholeFiles.temporary(fs, target, text), target, Options.Rename.OVERWRITE)

  override def version(target: Path): Option[Version] =
    throw new UnsupportedOperationException(refusal(target.getParent))

  override def exchange(target: Path, text: String, expected: String): Boolean =
    throw new UnsupportedOperationException(refusal(target.getParent))
}
