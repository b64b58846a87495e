"""The state of a keyed program key by key: cells read whole, timers, the number of waiting rows."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ...contracts.plan import Program, ProgramCell, key_column
from ..base.options import quoted
from .program_state import POSITION, RECORD, WAITING, entry_table, program_tables
from .tables import Stores

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_KEPT, _WHOLE = ".kept", ".whole "


def read_cells(spark: SparkSession, checkpoint: str, number: int, program: Program) -> DataFrame:
    """A row for each key that has any state after the last batch of a checkpoint.

    Its columns are the keys, the cells (a set and a list as an array, a set sorted), the timers,
    and the number of waiting rows; see `program_tables`.
    """
    from pyspark.sql import functions as F

    kept = program_tables(Stores(spark, checkpoint, number), program)
    tables, keys = kept.tables, kept.keys
    parts = [tables[RECORD].withColumn(_KEPT, F.lit(True))]
    parts += [
        _whole(tables[entry_table(cell.id)], keys, cell)
        for cell in program.cells
        if cell.kind != "value"
    ]
    if program.ordered:
        parts.append(tables[WAITING].groupBy(*map(quoted, keys)).agg(_count().alias(_WHOLE)))
    joined = reduce(lambda one, other: one.join(other, list(keys), "full"), parts)
    named = [key.name for key in program.keys]
    columns = [F.col(quoted(key_column(program, name))).alias(name) for name in named]
    columns += [_cell(cell).alias(cell.id) for cell in program.cells]
    columns += [F.col(quoted(timer.id)) for timer in program.timers]
    if program.ordered and WAITING not in {cell.id for cell in program.cells}:
        columns.append(F.coalesce(F.col(quoted(_WHOLE)), F.lit(0)).alias(WAITING))
    return joined.select(*columns)


def _count() -> Column:
    from pyspark.sql import functions as F

    return F.count(F.lit(1))


def _whole(entries: DataFrame, keys: tuple[str, ...], cell: ProgramCell) -> DataFrame:
    """Keys, and a map, set or list."""
    from pyspark.sql import functions as F

    if cell.kind == "map":
        whole = F.map_from_entries(F.collect_list(F.struct("key", "value")))
    elif cell.kind == "set":
        whole = F.array_sort(F.collect_list("key"))
    else:
        placed = F.array_sort(F.collect_list(F.struct(POSITION, "value")))
        whole = F.transform(placed, lambda one: one["value"])
    return entries.groupBy(*map(quoted, keys)).agg(whole.alias(f"{_WHOLE}{cell.id}"))


def _cell(cell: ProgramCell) -> Column:
    """A cell of a key that may have no record, or no entries."""
    from pyspark.sql import functions as F

    if cell.kind == "value":
        default = F.expr(cell.default or "NULL").cast(cell.type or "string")
        return F.when(F.col(quoted(_KEPT)), F.col(quoted(cell.id))).otherwise(default)
    none = F.expr(f"cast({'map' if cell.kind == 'map' else 'array'}() as {cell.type})")
    return F.coalesce(F.col(quoted(f"{_WHOLE}{cell.id}")), none)
