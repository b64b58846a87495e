"""Keys of a program whose cells get a TTL: each has to be woken, or its cells never expire.

A program removes expired entries when it is woken for that, which writing them schedules. Entries
written before there was a TTL have nothing scheduled: so each key is woken once, at the first
watermark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ....contracts.migration import OperatorChange
from ....contracts.plan import Operator, ProgramCell, cells_of
from ...base.options import quoted
from ...state_tables.program_state import ARMED, RECORD, entry_table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SWEEP = ".sweep"
_AT_ONCE = -9_223_372_036_854_774
"""In milliseconds of the clock by which keys are woken: before any watermark of rows."""


def gets_lifetimes(change: OperatorChange, old: Operator, new: Operator) -> bool:
    """Whether a migration gives a TTL to continuing cells that had none."""
    had = {cell.id for cell in cells_of(old) if cell.ttl is not None}
    origins = {one.id: one.column or one.expr for one in change.cells}
    origins |= {one.id: one.old for one in change.entries if one.old is not None}
    lasting = [cell.id for cell in cells_of(new) if cell.ttl is not None]
    return any(id in origins and origins[id] not in had for id in lasting)


def woken(tables: Mapping[str, DataFrame], keys: Sequence[str], new: Operator) -> DataFrame:
    """The records of a program, all of which are woken; also of keys that have only entries."""
    from pyspark.sql import functions as F

    names = [quoted(key) for key in keys]
    record = tables[RECORD]
    found = [
        tables[entry_table(cell.id)].select(*names)
        for cell in cells_of(new)
        if cell.ttl is not None and entry_table(cell.id) in tables
    ]
    if found:
        # Set operations treat NULLs as equal.
        lacking = reduce(lambda one, other: one.union(other), found).subtract(record.select(*names))
        starts = {cell.id: cell for cell in cells_of(new) if cell.kind == "value"}
        kinds = {field.name: field.dataType for field in record.schema.fields}
        others = {
            name: _start(starts.get(name)).cast(kinds[name])
            for name in record.columns
            if name not in keys
        }
        record = record.unionByName(lacking.withColumns(others))
    at_once = F.lit(_AT_ONCE).cast("bigint")
    armed = F.least(F.coalesce(F.col(quoted(ARMED)), at_once), at_once)
    return record.withColumns({_SWEEP: at_once, ARMED: armed})


def _start(cell: ProgramCell | None) -> Column:
    """What a cell is before the first row."""
    from pyspark.sql import functions as F

    default = None if cell is None else cell.default
    return F.lit(None) if default is None else F.expr(default)
