package org.apache.spark.sql.streamc

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, StreamExecution}
import org.apache.spark.sql.sources.{BaseRelation, TableScan}
import org.apache.spark.sql.types.StructType
import org.apache.spark.storage.StorageLevel

/**
 * Reference data of a job: read once, or at an interval, and the same for all of its queries.
 *
 * Spark lists the files of a batch relation when the frame is made, and reads them in every
 * micro-batch: new files are never seen, changed ones are seen in part, and a deleted one ends the
 * query. So the rows are copied when they are read, and each micro-batch is planned over the copy
 * that exists when it begins.
 */
object Tables {
  /**
   * A table of files; `required` are the columns in which NULL is a mistake. With `refresh` below
   * zero it is read once. Nothing is read before `read`, or the first plan over its frame.
   */
  def files(
      session: SparkSession,
      owner: String,
      format: String,
      schema: StructType,
      options: java.util.Map[String, String],
      path: String,
      required: java.util.List[String],
      refresh: Long): Table = {
    val columns = schema.fieldNames.map(name => s"`${name.replace("`", "``")}`")
    def frame(): DataFrame =
      session.read.format(format).schema(schema).options(options.asScala.toMap).load(path)
        .selectExpr(columns.toIndexedSeq: _*)
    new Table(session, owner, schema, required.asScala.toSeq, refresh, () => frame())
  }
}

/** What a table contained when it was read; Spark drops the copy once nothing refers to it. */
final class Snapshot(val rows: RDD[InternalRow], val count: Long, val bytes: Long, val at: Long)

final class Table(
    session: SparkSession,
    val owner: String,
    val schema: StructType,
    required: Seq[String],
    refresh: Long,
    load: () => DataFrame) {
  private var newest: Option[Snapshot] = None

  /** A number in the table that is an unlikely instant. */
  @volatile var odd: Option[OddInstant] = None
  private val used = mutable.Map.empty[String, (String, Snapshot)]
  private val ofEpochs = mutable.SortedMap.empty[Long, Snapshot]

  def frame: DataFrame = session.baseRelationToDataFrame(TableRelation(this, session.sqlContext))

  /** Reads the table unless it has been read; returns the number of its rows. */
  def read(): Long = current().count

  /**
   * The snapshot for the current plan: always the same within one micro-batch, and within one epoch
   * for all queries.
   */
  def current(): Snapshot = synchronized {
    Option(session.sparkContext.getLocalProperty(Gated.Epoch)) match {
      case Some(epoch) =>
        Option(session.sparkContext.getLocalProperty(Gated.Finished)).foreach(n => forget(n.toLong))
        ofEpoch(epoch.toLong)
      case None => ofBatch()
    }
  }

  /**
   * Queries may be any number of epochs apart. One that reaches an epoch after others have passed
   * it sees the table as it was then, as far as that is known, and nothing that later epochs have
   * not seen.
   */
  private def ofEpoch(epoch: Long): Snapshot = ofEpochs.getOrElseUpdate(epoch, {
    val later = ofEpochs.rangeFrom(epoch).headOption
    if (later.isEmpty) newer()
    else ofEpochs.rangeUntil(epoch).lastOption.orElse(later).get._2
  })

  /** No query reaches these epochs any more; the last of them is what later ones began with. */
  private def forget(finished: Long): Unit =
    ofEpochs.rangeTo(finished).lastOption.foreach { case (last, _) =>
      ofEpochs --= ofEpochs.rangeUntil(last).keys.toSeq
    }

  private def newer(): Snapshot = {
    newest = Some(newest.filterNot(due).getOrElse(copy()))
    newest.get
  }

  private def ofBatch(): Snapshot = {
    val context = session.sparkContext
    val query = Option(context.getLocalProperty(StreamExecution.QUERY_ID_KEY))
    val batch = Option(context.getLocalProperty(MicroBatchExecution.BATCH_ID_KEY))
    query.flatMap(used.get).filter(last => batch.contains(last._1)).map(_._2).getOrElse {
      val found = newer()
      for (q <- query; b <- batch) used(q) = (b, found)
      found
    }
  }

  private def due(snapshot: Snapshot): Boolean =
    refresh >= 0 && System.currentTimeMillis - snapshot.at >= refresh

  private def copy(): Snapshot = {
    val at = System.currentTimeMillis
    val (name, places) = (owner, required.map(column => schema.fieldIndex(column) -> column))
    val plan = load().asInstanceOf[Dataset[Row]].queryExecution
    val rows = plan.toRdd.map { row =>
      places.find(place => row.isNullAt(place._1)).foreach { case (_, column) =>
        throw MalformedRow(name, s"NULL in `$column`, which is NOT NULL", "one of its files")
      }
      row.copy()
    }.persist(StorageLevel.MEMORY_AND_DISK)
    val (count, bytes) = rows.aggregate((0L, 0L))(
      { case ((n, size), row) => (n + 1, size + row.asInstanceOf[UnsafeRow].getSizeInBytes) },
      { case ((n, size), (m, more)) => (n + m, size + more) })
    odd = odd.orElse(plan.executedPlan.collectFirst {
      case files: FileSourceScanExec => files.relation.fileFormat
    }.collect { case strict: StrictFiles => strict.counts.flatMap(_.odd) }.flatten)
    new Snapshot(rows, count, bytes, at)
  }
}

/** A table as Spark plans it: once per micro-batch, with its size at that time. */
case class TableRelation(table: Table, sqlContext: SQLContext) extends BaseRelation with TableScan {
  override def schema: StructType = table.schema
  override def needConversion: Boolean = false
  override def sizeInBytes: Long = table.current().bytes
  override def buildScan(): RDD[Row] = table.current().rows.asInstanceOf[RDD[Row]]
}
