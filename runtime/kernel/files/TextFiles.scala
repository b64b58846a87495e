package org.apache.spark.sql.streamc

import java.io.{BufferedInputStream, ByteArrayOutputStream, InputStream}
import java.nio.charset.StandardCharsets.ISO_8859_1

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs._
import org.apache.hadoop.io.compress.CompressionCodecFactory

import org.apache.spark.sql.classic.SparkSession

/** Files of lines, copied byte for byte without parsing. */
class TextFiles(session: SparkSession) {
  private val conf = session.sessionState.newHadoopConf()
  private val codecs = new CompressionCodecFactory(conf)

  /** The first record of a file with its line end; a line end within quotes belongs to it. */
  def header(path: String): String = {
    val in = open(path)
    try new String(firstRecord(in), ISO_8859_1) finally in.close()
  }

  /** Concatenates files into one, in order; of their headers, only the first is written. */
  def join(paths: java.util.List[String], target: String, headers: Boolean): Unit = {
    val p = new Path(target)
    val plain = p.getFileSystem(conf).create(p, true)
    val codec = codecs.getCodec(p)
    val out = if (codec == null) plain else codec.createOutputStream(plain)
    try paths.asScala.zipWithIndex.foreach { case (path, number) =>
      val in = open(path)
      try {
        if (headers && number > 0) firstRecord(in)
        in.transferTo(out)
      } finally in.close()
    } finally out.close()
  }

  private def open(path: String): InputStream = {
    val p = new Path(path)
    val plain = p.getFileSystem(conf).open(p)
    val codec = codecs.getCodec(p)
    new BufferedInputStream(if (codec == null) plain else codec.createInputStream(plain))
  }

  private def firstRecord(in: InputStream): Array[Byte] = {
    val found = new ByteArrayOutputStream
    var quoted = false
    var byte = in.read()
    while (byte >= 0) {
      found.write(byte)
      if (byte == '"') quoted = !quoted
      if (byte == '\n' && !quoted) return found.toByteArray
      byte = in.read()
    }
    found.toByteArray
  }
}
