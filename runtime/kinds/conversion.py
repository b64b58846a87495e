"""What a migration computes from the rows of a savepoint: expressions over visible columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...contracts.migration import CellChange, Made, OperatorChange
from ..base.options import quoted
from ..state_tables.tables import EXPIRES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class MadeColumn:
    """A column of the new state: its name, its SQL, and its part in a migration file.

    With `several` the SQL gives an array: a row goes into that many new ones.
    """

    part: str
    name: str
    expression: str
    is_key: bool = False
    several: bool = False

    @property
    def is_same(self) -> bool:
        """Whether it is an unchanged column under its old name."""
        return self.expression in (self.name, quoted(self.name))


@dataclass(frozen=True, slots=True)
class Conversion:
    """The columns computed from the rows of a table.

    `rows` have the columns that the expressions read, under their names. `keys` are the columns
    that identify a row, `columns` its other columns in the state. The keys of entries and waiting
    rows of a program are computed like those of its records.
    """

    table: str
    rows: DataFrame
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    made: tuple[MadeColumn, ...]

    @property
    def in_order(self) -> DataFrame:
        """The rows by their keys."""
        return self.rows.orderBy(*map(quoted, self.keys)) if self.keys else self.rows

    @property
    def changes(self) -> bool:
        """Whether any column is changed or missing."""
        names = {one.name for one in self.made}
        held = (*self.columns, *(self.keys if any(one.is_key for one in self.made) else ()))
        return bool(set(held) - names) or not all(one.is_same for one in self.made)


def parts_of(change: OperatorChange) -> Iterator[tuple[str, CellChange | Made]]:
    """Yields what cells and timers are made of, with what they are called."""
    yield from ((cell.id, cell) for cell in change.cells)
    yield from ((timer.name, timer) for timer in change.timers)


def made_keys(change: OperatorChange) -> Iterator[MadeColumn]:
    """Yields what keys are made of."""
    for one in change.keys:
        yield MadeColumn(one.name, one.name, one.expr, is_key=True)


def made_parts(change: OperatorChange, but: Collection[str] = ()) -> Iterator[MadeColumn]:
    """Yields what cells and timers are made of, but for some."""
    for name, one in parts_of(change):
        if name not in but:
            yield MadeColumn(name, name, one.expr)


def made_expiry(change: OperatorChange) -> MadeColumn:
    """The instant at which an id is forgotten."""
    return MadeColumn(EXPIRES, EXPIRES, expiry(change))


def expiry(change: OperatorChange) -> str:
    """The SQL of the instant at which an id is forgotten."""
    if change.expires is not None:
        return change.expires
    shift = change.shift_expiry_micros
    return f"timestamp_micros(unix_micros({EXPIRES}) + {shift}L)" if shift else EXPIRES


def key_columns(change: OperatorChange) -> tuple[list[Column], list[str]]:
    """The new keys as columns, and their names."""
    return [column(one.expr, one.name) for one in change.keys], [one.name for one in change.keys]


def column(expression: str, name: str) -> Column:
    """What an expression gives, under a name."""
    from pyspark.sql import functions as F

    return F.expr(expression).alias(name)


def with_expiry(table: DataFrame, change: OperatorChange) -> DataFrame:
    """Ids as Spark remembers them: by their new keys, each until it is forgotten."""
    keys, names = key_columns(change)
    found = table.select(*keys, column(expiry(change), EXPIRES))
    return as_the_first(found, names) if change.group else found


def as_the_first(ids: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Ids that become one: seen when the first of them was, and forgotten accordingly."""
    from pyspark.sql import functions as F

    instants = [name for name in ids.columns if name not in keys]
    first = [F.min(quoted(name)).alias(name) for name in instants]
    return ids.groupBy(*map(quoted, keys)).agg(*first)
