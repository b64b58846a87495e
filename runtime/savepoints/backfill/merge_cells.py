"""Cells of one state put into the tables of another, key by key."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....contracts.plan import Operator, Program
from ...base.errors import unfit
from ...base.options import quoted
from ...state_tables.program_state import ARMED, RECORD, entry_table
from ...state_tables.tables import STATE, Kept
from ...state_tables.types import nullable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_KEY, _CELL, _FOUND, _OWN = ".key {}", ".cell {}", ".found", ".own"


@dataclass(frozen=True, slots=True)
class Filled:
    """Tables with cells of another state, and how many keys had them.

    `lacking` keys of the tables have none there, `other` keys there are none of the tables.
    """

    tables: dict[str, DataFrame]
    keys: int
    lacking: int
    other: int


def conformed(
    like: Mapping[str, DataFrame], given: Mapping[str, DataFrame], operator: Operator
) -> dict[str, DataFrame]:
    """Tables with the columns that others have, and their types; those that are not there empty.

    Raises RuntimeFault for a column that is not there.
    """
    from pyspark.sql import functions as F

    found = {}
    for name, model in like.items():
        if name not in given:
            found[name] = model.limit(0)
            continue
        missing = [column for column in model.columns if column not in given[name].columns]
        if missing:
            raise unfit(operator.id, f"it has no `{missing[0]}`")
        columns = [
            F.col(quoted(field.name)).cast(nullable(field.dataType)).alias(field.name)
            for field in model.schema.fields
        ]
        found[name] = given[name].select(*columns)
    return found


def filled(
    tables: Mapping[str, DataFrame], there: Kept, cells: Collection[str], operator: Operator
) -> Filled:
    """Tables with these cells as they are in another state of the same operator.

    Groups are those of the tables. A key of a program whose parts all have their defaults is not
    kept, so those of either are keys. Raises RuntimeFault when Spark alone could make a cell of a
    key that is not there.
    """
    if isinstance(operator, Program):
        return _filled_program(tables, there, cells, operator)
    return _filled_groups(tables, there, cells, operator)


def _filled_groups(
    tables: Mapping[str, DataFrame], there: Kept, cells: Collection[str], operator: Operator
) -> Filled:
    from pyspark.sql import functions as F

    table = tables[STATE]
    wanted = [cell for cell in there.cells if cell in cells]
    other = _numbered(there.tables[STATE], there.keys, wanted)
    joined = table.join(other, _same(there.keys), "left")
    columns = [
        _either(_CELL.format(wanted.index(name)), name) if name in wanted else F.col(quoted(name))
        for name in table.columns
    ]
    keys, found, known = _counts(joined, other)
    binary = [n for n in wanted if table.schema[n].dataType.simpleString() == "binary"]
    if keys > found and binary:
        reason = f"{keys - found} groups have no rows, and `{binary[0]}` is a buffer of Spark's own"
        raise unfit(operator.id, reason, "accept that it starts empty, or leave it out of the spec")
    return Filled({STATE: joined.select(*columns)}, keys, keys - found, known - found)


def _filled_program(
    tables: Mapping[str, DataFrame], there: Kept, cells: Collection[str], program: Program
) -> Filled:
    from pyspark.sql import functions as F

    entries = {entry_table(cell) for cell in cells}
    made = {name: there.tables[name] if name in entries else tables[name] for name in tables}
    record = tables[RECORD]
    wanted = [
        name for name in there.cells if name in cells or name.removesuffix(".written") in cells
    ]
    timed = any(timer.id in cells for timer in program.timers)
    other = _numbered(there.tables[RECORD], there.keys, [*wanted, ARMED])
    own = record.withColumn(_OWN, F.lit(True))
    joined = own.join(other, _same(there.keys), "full")
    begins = {cell.id: cell.default for cell in program.cells if cell.kind == "value"}
    columns, worth = [], F.col(quoted(_OWN)).isNotNull()
    for field in record.schema.fields:
        name, default = field.name, F.expr(begins.get(field.name) or "NULL").cast(field.dataType)
        if name in there.keys:
            key = F.col(quoted(_KEY.format(there.keys.index(name))))
            column = F.coalesce(F.col(quoted(name)), key)
        elif name in wanted:
            taken = F.col(quoted(_CELL.format(wanted.index(name))))
            column = F.when(F.col(quoted(_FOUND)), taken).otherwise(default)
            worth |= F.col(quoted(_FOUND)) & ~taken.eqNullSafe(default)
        elif name == ARMED and timed:
            # Spark wakes a key at the first of what it waits for.
            column = F.least(F.col(quoted(name)), F.col(quoted(_CELL.format(len(wanted)))))
        else:
            column = F.when(F.col(quoted(_OWN)), F.col(quoted(name))).otherwise(default)
        columns.append(column.alias(name))
    made[RECORD] = joined.where(worth).select(*columns)
    keys, found, known = _counts(joined.where(F.col(quoted(_OWN))), other)
    return Filled(made, keys, keys - found, known - found)


def _numbered(table: DataFrame, keys: Sequence[str], cells: Sequence[str]) -> DataFrame:
    """Keys and cells by names that no column of a state has."""
    from pyspark.sql import functions as F

    return table.select(
        *(F.col(quoted(name)).alias(_KEY.format(n)) for n, name in enumerate(keys)),
        *(F.col(quoted(name)).alias(_CELL.format(n)) for n, name in enumerate(cells)),
        F.lit(True).alias(_FOUND),
    )


def _same(keys: Sequence[str]) -> Column:
    from pyspark.sql import functions as F

    found = F.lit(True)
    for number, name in enumerate(keys):
        found &= F.col(quoted(name)).eqNullSafe(F.col(quoted(_KEY.format(number))))
    return found


def _either(cell: str, name: str) -> Column:
    from pyspark.sql import functions as F

    taken = F.when(F.col(quoted(_FOUND)), F.col(quoted(cell)))
    return taken.otherwise(F.col(quoted(name))).alias(name)


def _counts(joined: DataFrame, other: DataFrame) -> tuple[int, int, int]:
    """The rows of a table, how many of them were found there, and how many there are there."""
    from pyspark.sql import functions as F

    both = joined.agg(F.count(F.lit(1)), F.count(F.col(quoted(_FOUND)))).head()
    assert both is not None
    return int(both[0]), int(both[1]), other.count()
