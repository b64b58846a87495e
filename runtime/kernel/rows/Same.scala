package org.apache.spark.sql.streamc

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GenericInternalRow}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.VariantVal

/**
 * When two values are the same value.
 *
 * Java compares arrays, maps and bytes by identity, and rows also by class; to it NaN does not
 * equal itself, and -0.0 equals 0.0, though a reader can tell them apart.
 */
private[streamc] object Same {
  type Test = (Any, Any) => Boolean

  /** Whether a reader can't tell two values of a type apart. */
  def apply(kind: DataType): Test = {
    val test = present(kind)
    (a, b) => if (a == null || b == null) a == b else test(a, b)
  }

  private def present(kind: DataType): Test = kind match {
    case DoubleType =>
      (a, b) => java.lang.Double.compare(a.asInstanceOf[Double], b.asInstanceOf[Double]) == 0
    case FloatType =>
      (a, b) => java.lang.Float.compare(a.asInstanceOf[Float], b.asInstanceOf[Float]) == 0
    case BinaryType => (a, b) => Arrays.equals(a.asInstanceOf[Array[Byte]], b.asInstanceOf[Array[Byte]])
    case VariantType =>
      (a, b) => (a, b) match {
        case (a: VariantVal, b: VariantVal) =>
          Arrays.equals(a.getValue, b.getValue) && Arrays.equals(a.getMetadata, b.getMetadata)
      }
    case ArrayType(element, _) =>
      val (same, get) = (Same(element), Getter(element))
      (a, b) => (a, b) match {
        case (a: ArrayData, b: ArrayData) =>
          a.numElements() == b.numElements() &&
            (0 until a.numElements()).forall(i => same(get(a, i), get(b, i)))
      }
    case StructType(fields) =>
      val tests = fields.zipWithIndex.map { case (field, i) =>
        val (same, get) = (Same(field.dataType), Getter(field.dataType))
        (a: InternalRow, b: InternalRow) => same(get(a, i), get(b, i))
      }
      (a, b) => tests.forall(_(a.asInstanceOf[InternalRow], b.asInstanceOf[InternalRow]))
    case map: MapType => maps(map)
    case _ => (a, b) => a == b
  }

  /** Maps are the same whatever the order of their entries. */
  private def maps(kind: MapType): Test = {
    val (sameKey, sameValue) = (Same(kind.keyType), Same(kind.valueType))
    val (keyOf, valueOf) = (Getter(kind.keyType), Getter(kind.valueType))
    def entries(map: MapData): Seq[(Any, Any)] = {
      val (keys, values) = (map.keyArray(), map.valueArray())
      (0 until map.numElements()).map(i => keyOf(keys, i) -> valueOf(values, i))
    }
    (a, b) => (a, b) match {
      case (a: MapData, b: MapData) => a.numElements() == b.numElements() && {
        val others = entries(b)
        entries(a).forall { case (key, value) =>
          others.exists { case (k, v) => sameKey(key, k) && sameValue(value, v) }
        }
      }
    }
  }
}

/**
 * Keys as Spark groups by them: a single NaN, and no -0.0. Keys of state and of entries are
 * compared by their bytes, which would otherwise differ.
 */
private[streamc] object PlainKeys {
  def needed(kind: DataType): Boolean = kind match {
    case DoubleType | FloatType => true
    case ArrayType(element, _) => needed(element)
    case StructType(fields) => fields.exists(field => needed(field.dataType))
    case _ => false
  }

  def of(key: Expression): Expression = NormalizeFloatingNumbers.normalize(key)

  /** Converts a value of this type to a plain key. */
  def of(kind: DataType): Any => Any =
    if (!needed(kind)) identity
    else {
      val (plain, row) = (of(BoundReference(0, kind, nullable = true)), new GenericInternalRow(1))
      value => {
        row.update(0, value)
        plain.eval(row)
      }
    }
}
