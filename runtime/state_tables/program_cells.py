"""The state of a keyed program key by key: cells as they read whole, timers, how many rows wait."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ..base.options import quoted
from ..plan.plan import Cell, Operator
from .program_state import POSITION, RECORD, WAITING, entry_table, key_column, program_tables

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_KEPT, _WHOLE = ".kept", ".whole "


def read_cells(spark: SparkSession, checkpoint: str, number: int, operator: Operator) -> DataFrame:
    """A row for each key that has any state after the last batch of a checkpoint.

    Its columns are the keys, the cells (a set and a list as an array, of a set in the order of its
    elements), the timers, and how many rows wait; see `program_tables`.
    """
    from pyspark.sql import functions as F

    tables, keys, _ = program_tables(spark, checkpoint, number, operator)
    parts = [tables[RECORD].withColumn(_KEPT, F.lit(True))]
    parts += [
        _whole(tables[entry_table(cell.name)], keys, cell)
        for cell in operator.cells
        if cell.kind != "value"
    ]
    if operator.ordered:
        parts.append(tables[WAITING].groupBy(*map(quoted, keys)).agg(_count().alias(_WHOLE)))
    joined = reduce(lambda one, other: one.join(other, list(keys), "full"), parts)
    named = [key.name for key in operator.keys]
    columns = [F.col(quoted(key_column(name))).alias(name) for name in named]
    columns += [_cell(cell).alias(cell.name) for cell in operator.cells]
    columns += [F.col(quoted(timer)) for timer in operator.timers]
    if operator.ordered and WAITING not in {cell.name for cell in operator.cells}:
        columns.append(F.coalesce(F.col(quoted(_WHOLE)), F.lit(0)).alias(WAITING))
    return joined.select(*columns)


def _count() -> Column:
    from pyspark.sql import functions as F

    return F.count(F.lit(1))


def _whole(entries: DataFrame, keys: tuple[str, ...], cell: Cell) -> DataFrame:
    """Keys, and a map, set or list."""
    from pyspark.sql import functions as F

    if cell.kind == "map":
        whole = F.map_from_entries(F.collect_list(F.struct("key", "value")))
    elif cell.kind == "set":
        whole = F.array_sort(F.collect_list("key"))
    else:
        placed = F.array_sort(F.collect_list(F.struct(POSITION, "value")))
        whole = F.transform(placed, lambda one: one["value"])
    return entries.groupBy(*map(quoted, keys)).agg(whole.alias(f"{_WHOLE}{cell.name}"))


def _cell(cell: Cell) -> Column:
    """A cell of a key that may have no record, or no entries."""
    from pyspark.sql import functions as F

    if cell.kind == "value":
        default = F.expr(cell.default or "NULL").cast(cell.type or "string")
        return F.when(F.col(quoted(_KEPT)), F.col(quoted(cell.name))).otherwise(default)
    none = F.expr(f"cast({'map' if cell.kind == 'map' else 'array'}() as {cell.type})")
    return F.coalesce(F.col(quoted(f"{_WHOLE}{cell.name}")), none)
