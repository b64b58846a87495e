"""Cells of one state of a program put into the tables of another."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ....contracts.plan import Program
from ...base.options import quoted
from ...state_tables.program_state import ARMED, RECORD, WRITTEN, entry_table
from ...state_tables.tables import Kept
from ..filling import CELL, FOUND, KEY, Filled, numbered, same_keys

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OWN = ".own"


def filled_program(
    tables: Mapping[str, DataFrame], there: Kept, cells: Collection[str], program: Program
) -> Filled:
    """Tables with these cells; keys are those of either state.

    A key of a program whose parts all have their defaults is not kept.
    """
    from pyspark.sql import functions as F

    entries = {entry_table(cell) for cell in cells}
    made = {name: there.tables[name] if name in entries else tables[name] for name in tables}
    record = tables[RECORD]
    wanted = [
        name for name in there.cells if name in cells or name.removesuffix(f".{WRITTEN}") in cells
    ]
    timed = any(timer.id in cells for timer in program.timers)
    other = numbered(there.tables[RECORD], there.keys, [*wanted, ARMED])
    own = record.withColumn(_OWN, F.lit(True))
    joined = own.join(other, same_keys(there.keys), "full")
    begins = {cell.id: cell.default for cell in program.cells if cell.kind == "value"}
    columns, worth = [], F.col(quoted(_OWN)).isNotNull()
    for field in record.schema.fields:
        name, default = field.name, F.expr(begins.get(field.name) or "NULL").cast(field.dataType)
        if name in there.keys:
            key = F.col(quoted(KEY.format(there.keys.index(name))))
            column = F.coalesce(F.col(quoted(name)), key)
        elif name in wanted:
            taken = F.col(quoted(CELL.format(wanted.index(name))))
            column = F.when(F.col(quoted(FOUND)), taken).otherwise(default)
            worth |= F.col(quoted(FOUND)) & ~taken.eqNullSafe(default)
        elif name == ARMED and timed:
            # Spark wakes a key for the first thing that it waits for.
            column = F.least(F.col(quoted(name)), F.col(quoted(CELL.format(len(wanted)))))
        else:
            column = F.when(F.col(quoted(_OWN)), F.col(quoted(name))).otherwise(default)
        columns.append(column.alias(name))
    made[RECORD] = joined.where(worth).select(*columns)
    return Filled.of(made, joined.where(F.col(quoted(_OWN))), other)
