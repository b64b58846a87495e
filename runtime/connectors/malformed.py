"""Rows that do not match their source's columns: NULL in NOT NULL columns, and the side stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..base.options import quoted
from .reading import FAIL, SEND, Declaration, Reading

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def apply_policy(source: Declaration, rows: DataFrame, position: Column) -> Reading:
    """A reading of decoded rows, of which those with NULL in a NOT NULL column are malformed.

    `position` is an expression over the rows for the location of each.
    """
    required = source.required()
    if source.malformed_rows == FAIL:
        return Reading(_fail_on_null(rows, source.name, required))
    kept = rows
    for column in required:
        kept = kept.where(f"{quoted(column)} IS NOT NULL")
    if source.malformed_rows != SEND:
        return Reading(kept)
    return Reading(kept, lambda: _with_nulls(source, rows, position))


def side_columns(source: str, raw: Column, reason: Column, position: Column) -> list[Column]:
    """The columns of a side stream of malformed rows."""
    from pyspark.sql import functions as F

    return [
        raw.alias("raw"),
        reason.alias("reason"),
        F.lit(source).alias("source"),
        position.alias("position"),
        F.current_timestamp().alias("seen_at"),
    ]


def _with_nulls(source: Declaration, rows: DataFrame, position: Column) -> DataFrame:
    from pyspark.sql import functions as F

    names = source.required()
    columns = [F.col(quoted(field.name)) for field in source.columns.fields]
    raw = F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
    any_null = F.lit(False)
    for name in names:
        any_null = any_null | F.col(quoted(name)).isNull()
    reason = F.lit(None).cast("string")
    for name in reversed(names):
        told = F.lit(null_reason(name))
        reason = F.when(F.col(quoted(name)).isNull(), told).otherwise(reason)
    return rows.where(any_null).select(*side_columns(source.name, raw, reason, position))


def null_reason(column: str) -> str:
    """What is wrong with a row that lacks a value; the kernel uses the same words."""
    return f"NULL in `{column}`, which is NOT NULL"


def _fail_on_null(frame: DataFrame, source: str, columns: Sequence[str]) -> DataFrame:
    """Fails the query on a NULL in one of the columns.

    The condition is one that Spark takes for non-deterministic (`spark_partition_id`, which costs
    nothing): a filter of the pipeline such as `k = 'x'` is then neither merged with it nor moved
    below it, where it would silently drop the row, and the columns are read even if nothing else
    reads them. To Spark the columns stay nullable, so plans do not depend on it.
    """
    from pyspark.sql import functions as F

    if not columns:
        return frame
    fault = F.lit(None).cast("boolean")
    for column in reversed(columns):
        message = f"source `{source}` has a malformed row: {null_reason(column)}"
        raised = F.raise_error(F.lit(message)).cast("boolean")
        fault = F.when(F.col(quoted(column)).isNull(), raised).otherwise(fault)
    return frame.where((F.spark_partition_id() >= 0) & fault.isNull())
