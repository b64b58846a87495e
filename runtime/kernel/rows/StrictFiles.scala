package org.apache.spark.sql.streamc

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.io.Text
import org.apache.hadoop.mapreduce.{Job, JobID, TaskAttemptID, TaskID, TaskType}
import org.apache.hadoop.mapreduce.lib.input.{FileSplit, LineRecordReader}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl

import org.json4s.JsonAST.{JInt, JNull, JObject, JString, JValue}

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.csv.CSVOptions
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.json.JSONOptionsInRead
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.util.{LongAccumulator, SerializableConfiguration}

/** Parses the bytes of one row to its values; one parser serves one thread. */
trait RowParser {
  /** The row, or null if there is none. Throws Malformed. */
  def parse(bytes: Array[Byte], length: Int): InternalRow

  /** The first number so far that is an unlikely instant. */
  def odd: Option[OddInstant] = None
}

/**
 * Whether a source accepts JSON and numbers that are not strict, the options that it names, and the
 * unit of its numeric instants, if it names one; and whether tests may give it values.
 *
 * Spark's own options lose their map on the way to the executors.
 */
case class Leniency(
    lenient: Boolean, named: Set[String], unit: Option[String], given: Boolean)

object Leniency {
  def of(options: Map[String, String]): Leniency = {
    val folded = options.toSeq.map { case (name, value) => (name.toLowerCase, value) }
    Leniency(
      folded.contains(("streamc.lenient", "true")),
      folded.map(_._1).toSet,
      folded.collectFirst { case ("streamc.timestamp_unit", unit) => unit },
      folded.contains(("streamc.given", "true")))
  }
}

/** The columns of the malformed rows of a file, after those that the source declares. */
object Rejected {
  val Raw = "__raw"
  val Reason = "__reason"
  val Position = "__position"
  val Columns = Seq(Raw, Reason, Position)
}

/**
 * Files of lines, one row per line, each of which fits the declared columns or is malformed as a
 * whole.
 *
 * Options besides Spark's own: `streamc.owner` is the source's name in messages; `streamc.required`
 * are the NOT NULL columns, one per line; `streamc.lenient` is whether values that are not strict
 * are accepted, `streamc.timestamp_unit` the unit of numeric instants, `streamc.given` whether tests
 * give instants as values; `streamc.rows` is `fail` (a
 * malformed row ends the query), `good` (it is left out) or `malformed` (only malformed rows, and
 * the schema ends with Rejected.Columns).
 */
abstract class StrictFiles extends TextBasedFileFormat {
  protected def lines(options: Map[String, String], zone: String): Lines

  @volatile @transient private var counted: Option[RecordCounts] = None

  /** Counts of what was read through this object, of which Spark makes one per micro-batch. */
  def counts: Option[RecordCounts] = counted

  override def inferSchema(
      session: SparkSession,
      options: Map[String, String],
      files: Seq[FileStatus]): Option[StructType] = None

  override def prepareWrite(
      session: SparkSession,
      job: Job,
      options: Map[String, String],
      schema: StructType): OutputWriterFactory = throw new UnsupportedOperationException

  override def isSplitable(
      session: SparkSession, options: Map[String, String], path: Path): Boolean =
    !options.get("multiLine").exists(_.toBoolean) && super.isSplitable(session, options, path)

  override def buildReader(
      session: SparkSession,
      dataSchema: StructType,
      partitionSchema: StructType,
      requiredSchema: StructType,
      filters: Seq[Filter],
      options: Map[String, String],
      hadoopConf: Configuration): PartitionedFile => Iterator[InternalRow] = {
    val conf = session.sparkContext.broadcast(new SerializableConfiguration(hadoopConf))
    val declared = StructType(dataSchema.filterNot(f => Rejected.Columns.contains(f.name)))
    val source = lines(options, getSqlConf(session).sessionLocalTimeZone)
    val required = options("streamc.required").split("\n").filter(_.nonEmpty)
      .flatMap(name => declared.getFieldIndex(name).map(_ -> name))
    val places = requiredSchema.fieldNames.map(declared.getFieldIndex(_).getOrElse(-1))
    val rejected = requiredSchema.fieldNames.map(Rejected.Columns.indexOf(_))
    val rows = options("streamc.rows")
    val name = options("streamc.owner")
    if (counted.isEmpty) counted = Some(new RecordCounts(rows).register(session.sparkContext))
    val counts = counted.get
    (file: PartitionedFile) => {
      val records = source.open(declared, file, conf.value.value)
      new FileRows(records, required, places, rejected, rows, name, counts)
    }
  }
}

case class StrictJson() extends StrictFiles {
  override protected def lines(options: Map[String, String], zone: String): Lines = {
    val read = new JSONOptionsInRead(options, zone, "")
    val how = Leniency.of(options)
    new Lines {
      override def open(schema: StructType, file: PartitionedFile, conf: Configuration): Records =
        new Records(file, read.lineSeparatorInRead, conf, new JsonRows(schema, read, how))
    }
  }
}

case class StrictCsv() extends StrictFiles {
  override protected def lines(options: Map[String, String], zone: String): Lines = {
    val read = new CSVOptions(options, false, zone, "")
    val how = Leniency.of(options)
    new Lines {
      override def open(schema: StructType, file: PartitionedFile, conf: Configuration): Records =
        new CsvRecords(file, read, conf, new CsvRows(schema, read, how), schema)
    }
  }
}

/**
 * Counts of the records of files: rows, malformed ones, blanks; and one odd instant among them.
 *
 * A task adds its counts when it has read a file to its end. As with Spark's own metrics, those of
 * a failed task are not counted, and those of a stage that is run a second time are counted twice.
 */
class RecordCounts(wanted: String) extends Serializable {
  private val read, malformed, blank = new LongAccumulator
  private val found = new OddInstants

  def register(context: SparkContext): this.type = {
    Seq(read, malformed, blank, found).foreach(context.register(_))
    this
  }

  def add(read: Long, malformed: Long, blank: Long, odd: Option[OddInstant]): Unit = {
    this.read.add(read)
    this.malformed.add(malformed)
    this.blank.add(blank)
    odd.foreach(found.add)
  }

  def odd: Option[OddInstant] = found.value

  def json: JValue = JObject(
    "wanted" -> JString(wanted),
    "read" -> JInt(read.sum),
    "malformed" -> JInt(malformed.sum),
    "blank" -> JInt(blank.sum),
    "odd" -> odd.map(_.json).getOrElse(JNull))
}

/** How the files of a format are opened; sent to the executors. */
trait Lines extends Serializable {
  def open(schema: StructType, file: PartitionedFile, conf: Configuration): Records
}

/** The records of a part of a file, one at a time. */
class Records(
    file: PartitionedFile, separator: Option[Array[Byte]], conf: Configuration, parser: RowParser) {
  private val reader = separator.map(new LineRecordReader(_)).getOrElse(new LineRecordReader)
  private val task = new TaskAttemptID(new TaskID(new JobID, TaskType.MAP, 0), 0)
  reader.initialize(
    new FileSplit(file.toPath, file.start, file.length, Array.empty[String]),
    new TaskAttemptContextImpl(conf, task))
  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => reader.close()))
  private var number = 0L
  private var from = 0L
  private var line: Text = _
  private var ended = false

  /** Advances to the next record; false at the end. */
  def advance(): Boolean = {
    val more = nextLine()
    from = number
    more
  }

  /** The record as a row, null if it has none. Throws Malformed. */
  def row(): InternalRow = parser.parse(line.getBytes, line.getLength)

  def odd: Option[OddInstant] = parser.odd

  /** The record as it is in the file, with replacement characters for invalid UTF-8. */
  def raw: UTF8String = UTF8String.fromBytes(line.getBytes, 0, line.getLength).makeValid()

  /** The file and the first line; the byte, in a part of a large file that is not its first. */
  def position: String =
    if (file.start == 0) s"${file.urlEncodedPath}:$from"
    else s"${file.urlEncodedPath}:byte ${reader.getCurrentKey.get}"

  /** The bytes of the line that was read last. */
  final def bytes: Text = line

  final def nextLine(): Boolean = {
    if (!ended) {
      ended = !reader.nextKeyValue()
      if (ended) reader.close()
      else {
        line = reader.getCurrentValue
        number += 1
      }
    }
    !ended
  }
}

/** Lines of delimited text; the first one may be a header, and a row may span several. */
class CsvRecords(
    file: PartitionedFile,
    options: CSVOptions,
    conf: Configuration,
    parser: CsvRows,
    schema: StructType) extends Records(file, options.lineSeparatorInRead, conf, parser) {
  private val mistake: Option[Malformed] = if (options.headerFlag) header() else None
  private var spanned: Array[Byte] = _

  override def advance(): Boolean = {
    spanned = null
    super.advance()
  }

  override def row(): InternalRow = {
    val found =
      try parser.parse(bytes.getBytes, bytes.getLength)
      catch { case CsvRows.Unclosed if options.multiLine => span() }
    if (found != null) mistake.foreach(throw _)
    found
  }

  override def raw: UTF8String =
    if (spanned == null) super.raw else UTF8String.fromBytes(spanned).makeValid()

  /** Appends lines until the quote is closed; a line without a quote can't close it. */
  private def span(): InternalRow = {
    val whole = new java.io.ByteArrayOutputStream
    whole.write(bytes.getBytes, 0, bytes.getLength)
    while (nextLine()) {
      whole.write('\n')
      whole.write(bytes.getBytes, 0, bytes.getLength)
      if (bytes.find(options.quote.toString) >= 0) {
        spanned = whole.toByteArray
        try return parser.parse(spanned, spanned.length)
        catch { case CsvRows.Unclosed => }
      }
    }
    spanned = whole.toByteArray
    throw CsvRows.Unclosed
  }

  /** Reads the header, which every part of a file must know, and returns what is wrong with it. */
  private def header(): Option[Malformed] = {
    val top =
      if (file.start == 0) this
      else new Records(file.copy(start = 0, length = 1), options.lineSeparatorInRead, conf, parser)
    var wrong: Option[Malformed] = None
    var found = false
    while (!found && top.nextLine()) {
      try {
        val line = parser.decode(top.bytes.getBytes, top.bytes.getLength)
        found = !parser.isNoRow(line)
        if (found && !declares(line)) wrong = Some(foreign(line))
      } catch { case m: Malformed => found = true; wrong = Some(m) }
    }
    wrong
  }

  private def declares(header: String): Boolean =
    parser.split(header).map(String.valueOf(_).trim.toLowerCase)
      .sameElements(schema.fieldNames.map(_.toLowerCase))

  private def foreign(header: String): Malformed = new Malformed(
    s"the header of the file is `${Malformed.shown(header)}`, and the source declares " +
      s"`${schema.fieldNames.mkString(options.delimiter)}`")
}

/** The rows of a part of a file, with the requested columns. */
class FileRows(
    records: Records,
    required: Array[(Int, String)],
    places: Array[Int],
    rejected: Array[Int],
    rows: String,
    source: String,
    counts: RecordCounts) extends Iterator[InternalRow] {
  private val fails = rows == "fail"
  private val wantsMalformed = rows == "malformed"
  private val output = new GenericInternalRow(places.length)
  private var ready = false
  private var ended = false
  private var read = 0L
  private var malformed = 0L
  private var blank = 0L
  if (FailedRow.looking) FileRows.here.set(this)

  /** The position of the row that was returned last. */
  def position: String = records.position

  override def hasNext: Boolean = {
    while (!ready && !ended) {
      if (records.advance()) take()
      else {
        ended = true
        counts.add(read, malformed, blank, records.odd)
      }
    }
    ready
  }

  private def take(): Unit = {
    read += 1
    try {
      val row = records.row()
      if (row == null) blank += 1
      else {
        check(row)
        if (!wantsMalformed) accept(row)
      }
    } catch {
      case m: Malformed if fails => throw MalformedRow(source, m.message, records.position)
      case m: Malformed =>
        malformed += 1
        if (wantsMalformed) reject(m)
    }
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    ready = false
    output
  }

  private def check(row: InternalRow): Unit = {
    var i = 0
    while (i < required.length) {
      if (row.isNullAt(required(i)._1)) {
        throw new Malformed(s"NULL in `${required(i)._2}`, which is NOT NULL")
      }
      i += 1
    }
  }

  private def accept(row: InternalRow): Unit = {
    val values = row.asInstanceOf[GenericInternalRow].values
    var i = 0
    while (i < places.length) {
      output.update(i, values(places(i)))
      i += 1
    }
    ready = true
  }

  private def reject(m: Malformed): Unit = {
    val values = Array(records.raw.clone(), UTF8String.fromString(m.message),
      UTF8String.fromString(records.position))
    rejected.indices.foreach { i =>
      output.update(i, if (rejected(i) < 0) null else values(rejected(i)))
    }
    ready = true
  }
}

private[streamc] object FileRows {
  /** In tasks that look for a row: the rows being read. */
  val here = new ThreadLocal[FileRows]
}

/** Ends the query that read the row. */
case class MalformedRow(source: String, reason: String, position: String)
    extends Exception(s"$source has a malformed row: $reason, at $position")
