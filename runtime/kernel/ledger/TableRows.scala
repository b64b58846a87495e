package org.apache.spark.sql.execution.streamc

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.{HashedRelation, HashJoin}

/**
 * The rows of a table that a join looks up by their keys. Spark's container for them is visible
 * only in this package.
 */
private[sql] class TableRows(table: Broadcast[HashedRelation], keys: Seq[Expression])
    extends Serializable {
  @transient private var relation: HashedRelation = _
  @transient private var key: UnsafeProjection = _

  def begin(): Unit = {
    relation = table.value.asReadOnlyCopy()
    key = UnsafeProjection.create(keys)
  }

  /** Those that have the keys of a row. */
  def of(row: InternalRow): Iterator[InternalRow] = {
    val wanted = key(row)
    val found = if (wanted.anyNull) null else relation.get(wanted)
    if (found == null) Iterator.empty else found
  }
}

private[sql] object TableRows {
  /** `build` is the side of the join that is broadcast, `keys` are over rows of the other. */
  def apply(build: SparkPlan, keys: Seq[Expression], other: Seq[Attribute]): TableRows =
    new TableRows(
      build.executeBroadcast[HashedRelation](),
      HashJoin.rewriteKeyExpr(keys).map(BindReferences.bindReference(_, AttributeSeq(other))))
}
