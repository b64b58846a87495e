package org.apache.spark.sql.streamc

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.streaming.{StreamingRelationV2, UserProvided}
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation

/**
 * Distinct names for a source that a query reads more than once.
 *
 * Spark keys a source's offsets by its name and rejects a query in which two reads share one (a
 * stream joined or united with itself). The first read, in the order of the plan, keeps the name;
 * the others become `name__2`, `name__3`: names that no spec can declare. A query's programs are
 * made its own, too.
 */
object Sources {
  def distinct(frame: DataFrame): DataFrame = {
    val dataset = frame.asInstanceOf[Dataset[_]]
    val plan = dataset.queryExecution.analyzed
    val reads = mutable.Map.empty[String, Int].withDefaultValue(0)

    def next(name: String): UserProvided = {
      reads(name) += 1
      UserProvided(if (reads(name) == 1) name else s"${name}__${reads(name)}")
    }

    val renamed = plan.transform {
      case r @ StreamingRelation(source, _, _, UserProvided(name)) =>
        val own = next(name)
        r.copy(
          dataSource = source.copy(userSpecifiedStreamingSourceName = Some(own)),
          sourceIdentifyingName = own)
      case r: StreamingRelationV2 => r.sourceIdentifyingName match {
        case UserProvided(name) => r.copy(sourceIdentifyingName = next(name))
        case _ => r
      }
    }
    val own = Exchanges(Keyed.apart(renamed, dataset.sparkSession.sparkContext))
    if (own.fastEquals(plan)) frame
    else Dataset.ofRows(dataset.sparkSession, own).asInstanceOf[Dataset[Row]]
  }
}
