package org.apache.spark.sql.streamc

import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.connector.read.streaming.{Offset => StreamOffset, ReadLimit, SupportsAdmissionControl}
import org.apache.spark.sql.execution.datasources.{DataSource, LogicalRelation}
import org.apache.spark.sql.execution.streaming.{Offset, Source}
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation
import org.apache.spark.sql.sources.StreamSourceProvider
import org.apache.spark.sql.types.StructType

/**
 * Sources that return their rows step by step: step n of a source is the file `n` in its folder,
 * and one micro-batch of every query that is idle when the step is released.
 *
 * All steps of a run are below one root, `<root>/rows/<source>/<n>` and
 * `<root>/ticks/<source>/<n>`, and are released together. A query that reads several sources takes
 * the same step of all of them.
 */
object Steps {
  private val released = new ConcurrentHashMap[String, java.lang.Long]

  /** Lets queries read the steps up to this one, whose files must all exist. */
  def release(root: String, step: Long): Unit = released.put(root, step)

  /** The run has ended. */
  def forget(root: String): Unit = released.remove(root)

  /**
   * The frame with every read of files below the root as a source of steps, and with a second
   * source of ticks beside each source whose event time has a watermark.
   *
   * The plan above the reads is unchanged, so that rows are parsed by the pipeline itself.
   */
  def wrap(frame: DataFrame, root: String): DataFrame = {
    val dataset = frame.asInstanceOf[Dataset[_]]
    val stepped = dataset.queryExecution.analyzed.transform {
      case read: StreamingRelation if folder(read).exists(_.startsWith(s"$root/")) => steps(read, root)
    }
    val ticked = Ticks.add(stepped) { read =>
      folder(read).map { rows =>
        s"$root/ticks/${rows.substring(rows.lastIndexOf('/') + 1)}"
      }.map(ticks => relation(dataset.sparkSession, "json", ticks, Ticks.schema, Map.empty, root))
    }
    Dataset.ofRows(dataset.sparkSession, ticked).asInstanceOf[Dataset[Row]]
  }

  private def folder(read: StreamingRelation): Option[String] =
    read.dataSource.options.get("path").map(_.stripPrefix("file:"))

  private def steps(read: StreamingRelation, root: String): StreamingRelation = {
    val files = read.dataSource
    read.copy(
      dataSource = files.copy(
        className = classOf[StepSourceProvider].getName,
        options = files.options ++ own(files.className, root)),
      sourceName = StepSource.Name)
  }

  private def relation(
      session: SparkSession,
      format: String,
      path: String,
      schema: StructType,
      options: Map[String, String],
      root: String): DataSource =
    DataSource(
      session,
      className = classOf[StepSourceProvider].getName,
      userSpecifiedSchema = Some(schema),
      options = options ++ own(format, root) + ("path" -> path))

  private def own(format: String, root: String): Map[String, String] =
    Map(StepSource.Format -> format, StepSource.Root -> root)

  /** The steps that a query may read now; see [[Cut]]. */
  private[streamc] def latest(root: String): Long =
    released.getOrDefault(root, StepOffset.None)
}

/** The number of the last step that was read. */
case class StepOffset(step: Long) extends Offset {
  override def json(): String = step.toString
}

object StepOffset {
  val None: Long = 0L

  def of(offset: StreamOffset): Long = if (offset == null) None else offset.json().toLong
}

/**
 * One cut through all sources of a query.
 *
 * Spark asks the sources of a query one after the other for their newest offsets, in the query's
 * own thread. The first one asked in a round determines the cut for the others; a source that is
 * asked a second time begins the next round.
 */
private class Cut(root: String) {
  private val asked = mutable.Set.empty[Source]
  private var step = StepOffset.None

  def next(source: Source): Long = {
    if (asked.isEmpty || asked(source)) {
      asked.clear()
      step = Steps.latest(root)
    }
    asked += source
    step
  }
}

private object Cut {
  private val ofThread = new ThreadLocal[mutable.Map[String, Cut]] {
    override def initialValue(): mutable.Map[String, Cut] = mutable.Map.empty
  }

  /** The cut of the current thread's query. */
  def own(root: String): Cut = ofThread.get.getOrElseUpdate(root, new Cut(root))
}

/** The steps of one folder, read like any files of that format. */
class StepSource(
    session: SparkSession,
    override val schema: StructType,
    format: String,
    folder: String,
    root: String,
    options: Map[String, String])
    extends Source
    with SupportsAdmissionControl {

  override def getOffset: Option[Offset] =
    throw new UnsupportedOperationException("a source of steps is asked with a limit")

  override def initialOffset(): StreamOffset = StepOffset(StepOffset.None)

  override def latestOffset(start: StreamOffset, limit: ReadLimit): StreamOffset = {
    Watermarks.install(session)
    StepOffset(math.max(StepOffset.of(start), Cut.own(root).next(this)))
  }

  override def getBatch(start: Option[Offset], end: Offset): DataFrame = {
    Watermarks.install(session)
    WatermarkBefore.note(session, settled = true)
    val first = start.map(StepOffset.of).getOrElse(StepOffset.None) + 1
    val files = DataSource(
      session,
      className = format,
      paths = (first to StepOffset.of(end)).map(n => s"$folder/$n"),
      userSpecifiedSchema = Some(schema),
      options = options + (DataSource.GLOB_PATHS_KEY -> "false"))
    val relation = files.resolveRelation(checkFilesExist = false)
    Dataset.ofRows(session, LogicalRelation(relation, isStreaming = true))
  }

  override def stop(): Unit = ()

  override def toString: String = s"steps of $folder"
}

object StepSource {
  val Name = "steps"
  val Format = "steps.format"
  val Root = "steps.root"
}

/** Creates the sources that [[Steps.wrap]] puts into a plan. */
class StepSourceProvider extends StreamSourceProvider {
  override def sourceSchema(
      context: SQLContext,
      schema: Option[StructType],
      name: String,
      options: Map[String, String]): (String, StructType) = (StepSource.Name, schema.get)

  override def createSource(
      context: SQLContext,
      metadataPath: String,
      schema: Option[StructType],
      name: String,
      options: Map[String, String]): Source =
    new StepSource(
      context.sparkSession.asInstanceOf[SparkSession],
      schema.get,
      options(StepSource.Format),
      options("path").stripPrefix("file:"),
      options(StepSource.Root),
      options - StepSource.Format - StepSource.Root - "path")
}
