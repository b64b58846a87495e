package org.apache.spark.sql.streamc

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, OffsetDateTime}
import java.time.temporal.ChronoUnit
import java.util.zip.CRC32

import scala.collection.immutable.SortedMap

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods

import org.apache.spark.sql.connector.read.streaming.{Offset => StreamOffset}
import org.apache.spark.sql.execution.streaming.Offset

/**
 * An epoch: the position of each source at its end, as Spark's JSON of that source; null for a
 * source that has had no input yet. `rows` is whether the epoch has new input, `drain` whether the
 * watermark moves past everything in it, `openedAt` the current time in every query.
 */
case class Epoch(
    number: Long,
    cuts: SortedMap[String, String],
    rows: Boolean,
    drain: Boolean,
    openedAt: Instant = Instant.EPOCH)

object Epoch {
  def name(number: Long): String = f"$number%09d.json"

  /** The epoch as the text of a note: a document, then a line with its checksum. */
  def text(epoch: Epoch): String = {
    val cuts = epoch.cuts.toList.map { case (source, at) =>
      JField(source, if (at == null) JNull else JsonMethods.parse(at))
    }
    val body = JsonMethods.compact(JObject(
      "epoch" -> JLong(epoch.number),
      "cuts" -> JObject(cuts),
      "rows" -> JBool(epoch.rows),
      "drain" -> JBool(epoch.drain),
      "opened_at" -> JString(epoch.openedAt.toString))) + "\n"
    body + lastLine(body)
  }

  /** Throws IllegalStateException if the text is not as it was written. */
  def of(text: String, path: String): Epoch = {
    val lines = text.stripSuffix("\n")
    val body = lines.substring(0, lines.lastIndexOf('\n') + 1)
    if (body.isEmpty || lines + "\n" != body + lastLine(body)) {
      throw new IllegalStateException(s"$path is damaged")
    }
    val found = JsonMethods.parse(body)
    val JObject(cuts) = found \ "cuts": @unchecked
    val JInt(number) = found \ "epoch": @unchecked
    Epoch(
      number.toLong,
      SortedMap(cuts.map {
        case (source, JNull) => source -> null
        case (source, at) => source -> JsonMethods.compact(at)
      }: _*),
      rows = found \ "rows" == JBool.True,
      drain = found \ "drain" == JBool.True,
      openedAt = found \ "opened_at" match {
        case JString(at) => OffsetDateTime.parse(at).toInstant
        case _ => Instant.now
      })
  }

  private def lastLine(body: String): String = {
    val sum = new CRC32
    sum.update(body.getBytes(UTF_8))
    f"""{"crc32":"${sum.getValue}%08x"}""" + "\n"
  }
}

/** What Spark logs for a gated source: `{"epoch":12,"at":<the source's own position>}`. */
case class EpochOffset(epoch: Long, at: String) extends Offset {
  override def json(): String = s"""{"epoch":$epoch,"at":$at}"""
}

object EpochOffset {
  private val Json = """\{"epoch":(-?\d+),"at":(.*)\}""".r

  /** Before the first epoch: no source has had input. */
  val Start: EpochOffset = EpochOffset(-1, null)

  def of(offset: StreamOffset): EpochOffset = offset match {
    case null => Start
    case known: EpochOffset => known
    case logged => logged.json() match {
      case Json(epoch, "null") => EpochOffset(epoch.toLong, null)
      case Json(epoch, at) => EpochOffset(epoch.toLong, at)
    }
  }
}

/** The log of a generation's epochs: each is written before any query may plan it. */
class EpochLog(files: Files, folder: String) {
  private var known = SortedMap.empty[Long, Epoch]

  def last: Option[Epoch] = known.lastOption.map(_._2)

  def get(number: Long): Option[Epoch] = known.get(number)

  /** Reads the epochs from this one on, and in any case the last one. */
  def read(from: Long): Unit = {
    val numbers = files.names(folder)
      .filter(_.matches("\\d+\\.json")).map(_.stripSuffix(".json").toLong).sorted
    known = SortedMap(numbers.filter(n => n >= from || n == numbers.last).map { number =>
      val path = s"$folder/${Epoch.name(number)}"
      number -> Epoch.of(files.read(path), path)
    }.toIndexedSeq: _*)
  }

  def add(epoch: Epoch): Unit = {
    val opened = epoch.copy(openedAt = Instant.now.truncatedTo(ChronoUnit.MICROS))
    files.create(s"$folder/${Epoch.name(epoch.number)}", Epoch.text(opened))
    known += epoch.number -> opened
  }

  /** Forgets the epochs before this one that all queries have finished, except the last. */
  def trim(before: Long): Unit = known = known.filter { case (n, _) => n >= before || n == known.lastKey }
}
