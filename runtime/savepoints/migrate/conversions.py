"""What a migration computes of the rows of a savepoint: expressions over the columns they see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....contracts.migration import EntriesChange, OperatorChange, SideChange, WaitingChange
from ....contracts.plan import Operator, sides_of
from ....contracts.savepoint import SavedOperator
from ...base.options import quoted
from ...state_tables.program_state import POSITION, RECORD, WAITING, entry_table, state_name
from ...state_tables.tables import EXPIRES, MATCHED, SIDES, STATE, WINDOW, key_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ENTRY = {"map": ("key", "value"), "set": ("key",), "list": ("value",)}
"""The columns of entries that expressions make."""

WRITTEN = ".written"
"""How the column of a record ends that says when a value was written."""


@dataclass(frozen=True, slots=True)
class MadeColumn:
    """A column of the new state: its name, its SQL, and the part that a migration file calls it.

    Of one that is `several` the SQL gives an array: a row goes into as many of the new ones.
    """

    part: str
    name: str
    expression: str
    is_key: bool = False
    several: bool = False

    @property
    def is_same(self) -> bool:
        """Whether it is a column as it was, under its old name."""
        return self.expression in (self.name, quoted(self.name))


@dataclass(frozen=True, slots=True)
class Conversion:
    """The columns that are made of the rows of a table.

    `rows` have what the expressions read, by the names by which they read it. `keys` are the
    columns that tell which row it is, `columns` what the state has of it besides. The keys of
    entries and waiting rows of a program are made as those of its records are.
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
        """Whether any column is another one, or gone."""
        names = {one.name for one in self.made}
        held = (*self.columns, *(self.keys if any(one.is_key for one in self.made) else ()))
        return bool(set(held) - names) or not all(one.is_same for one in self.made)


def conversions(
    tables: Mapping[str, DataFrame], saved: SavedOperator, change: OperatorChange, old: Operator
) -> Iterator[Conversion]:
    """Yields what is made of each table of an operator, before rows are merged.

    `old` is what the old plan says of the operator.
    """
    tables = rows_kept(tables, saved, change)
    match saved.kind:
        case "join":
            for side, was, new in changed_sides(change):
                yield _side(side, tables[was], new, old_keys(old, was))
        case "operator" if change.kind == "dedup":
            made = (*_keys(change), MadeColumn(EXPIRES, EXPIRES, expiry(change)))
            yield Conversion(RECORD, tables[RECORD], saved.keys, ("kept_at", "forget"), made)
        case "operator":
            yield from _program(tables, saved, change)
        case _:
            yield _groups(tables[STATE], saved, change)


def changed_sides(change: OperatorChange) -> Iterator[tuple[str, str, SideChange]]:
    """Yields each side of a join with the old side that its rows are of, and what is said of it."""
    for side, said in zip(SIDES, change.sides, strict=True):
        yield side, said.old or side, said


def old_keys(old: Operator, side: str) -> list[str]:
    """What the old plan calls the keys of a side."""
    return [key.name for key in sides_of(old)[SIDES.index(side)].keys]


def rows_kept(
    tables: Mapping[str, DataFrame], saved: SavedOperator, change: OperatorChange
) -> dict[str, DataFrame]:
    """The tables without what a migration leaves behind; of a program all that a key has."""
    condition = change.where
    if not condition or saved.kind == "join":
        return dict(tables)
    if saved.kind != "operator":
        return {name: table.where(condition) for name, table in tables.items()}
    record = tables[RECORD].where(condition)
    return {
        name: record if name == RECORD else _of_keys(table, record, saved.keys)
        for name, table in tables.items()
    }


def _of_keys(table: DataFrame, record: DataFrame, keys: Sequence[str]) -> DataFrame:
    from pyspark.sql import functions as F

    named = {key: f".kept {number}" for number, key in enumerate(keys)}
    kept = record.select(*(F.col(quoted(key)).alias(name) for key, name in named.items()))
    same = " AND ".join(f"{quoted(key)} <=> {quoted(name)}" for key, name in named.items())
    return table.join(kept, F.expr(same), "left_semi")


def expiry(change: OperatorChange) -> str:
    """The SQL of the instant at which an id is forgotten."""
    if change.expires is not None:
        return change.expires
    shift = change.shift_expiry_micros
    return f"timestamp_micros(unix_micros({EXPIRES}) + {shift}L)" if shift else EXPIRES


def side_seen(table: DataFrame, names: Sequence[str]) -> DataFrame:
    """Rows that wait in a join, with their keys by their names in the plan: `payments.id`."""
    from pyspark.sql import functions as F

    for place, name in enumerate(names):
        table = table.withColumn(name, F.col(key_column(place)))
    return table


def entry_parts(one: EntriesChange) -> dict[str, str]:
    """The SQL of the columns of an entry; the element of a list is a `key` in it, as of a set."""
    if one.kind == "list":
        return {"value": "value" if one.key in (None, "key") else one.key}
    given = {"key": one.key, "value": one.value}
    return {column: given[column] or quoted(column) for column in _ENTRY[one.kind]}


def entries_seen(table: DataFrame, one: EntriesChange) -> DataFrame:
    """Entries, as `entry_parts` see them."""
    from pyspark.sql import functions as F

    return table.withColumn("key", F.col("value")) if one.kind == "list" else table


def input_seen(table: DataFrame, own: Mapping[str, str]) -> DataFrame:
    """Rows that wait in a program, with the columns of an input by their own names."""
    from pyspark.sql import functions as F

    hidden = set(own.values())
    return table.select(
        *(F.col(quoted(name)) for name in table.columns if name not in hidden),
        *(F.col(quoted(name)).alias(plain) for name, plain in own.items()),
    )


def input_columns(table: DataFrame, given: WaitingChange) -> dict[str, str]:
    """The columns that rows of an input wait with, and their own names."""
    stem = f"{state_name(given.old or given.input)}__"
    own = [name for name in table.columns if name.startswith(stem)]
    return {name: name.removeprefix(stem) for name in own}


def _keys(change: OperatorChange) -> Iterator[MadeColumn]:
    for one in change.keys:
        yield MadeColumn(one.name, one.name, one.expr, is_key=True)


def _groups(table: DataFrame, saved: SavedOperator, change: OperatorChange) -> Conversion:
    made = list(_keys(change))
    if (window := change.window) is not None:
        key = MadeColumn(WINDOW, WINDOW, window.expr, is_key=True, several=window.several)
        made.append(key)
    if change.kind == "dedup":
        made.append(MadeColumn(EXPIRES, EXPIRES, expiry(change)))
    backfilled = set(change.backfill or ())
    made += [one for one in _values(change) if one.name not in backfilled]
    return Conversion(STATE, table, saved.keys, saved.cells, tuple(made))


def _values(change: OperatorChange) -> Iterator[MadeColumn]:
    """Yields what cells and timers are made of."""
    for cell in change.cells:
        yield MadeColumn(cell.id, cell.id, cell.expr)
    for timer in change.timers:
        yield MadeColumn(timer.name, timer.name, timer.expr)


def _side(side: str, table: DataFrame, new: SideChange, names: Sequence[str]) -> Conversion:
    key = f"{side} key"
    made = [
        *(MadeColumn(key, names[n], sql, is_key=True) for n, sql in enumerate(new.keys)),
        *(MadeColumn(f"{side}.{one.name}", one.name, one.expr) for one in new.columns),
    ]
    kept = {key_column(place) for place in range(len(names))} | {POSITION, MATCHED}
    columns = tuple(name for name in table.columns if name not in kept)
    return Conversion(side, side_seen(table, names), tuple(names), columns, tuple(made))


def _program(
    tables: Mapping[str, DataFrame], saved: SavedOperator, change: OperatorChange
) -> Iterator[Conversion]:
    record = tables[RECORD]
    columns = tuple(
        name
        for name in saved.cells
        if not name.startswith(".") and not name.endswith(WRITTEN) and name in record.columns
    )
    yield Conversion(RECORD, record, saved.keys, columns, (*_keys(change), *_values(change)))
    for one in change.entries:
        if one.old is not None:
            name, rows = entry_table(one.id), entries_seen(tables[entry_table(one.old)], one)
            made = tuple(
                MadeColumn(f"{one.id}: {column}", column, sql)
                for column, sql in entry_parts(one).items()
            )
            yield Conversion(name, rows, saved.keys, _ENTRY[one.kind], made)
    if WAITING in tables:
        for given in change.waiting or ():
            yield _waiting(tables[WAITING], saved, given)


def _waiting(table: DataFrame, saved: SavedOperator, given: WaitingChange) -> Conversion:
    own = input_columns(table, given)
    made = tuple(
        MadeColumn(f"{given.input}.{one.name}", one.name, one.expr) for one in given.columns
    )
    name = f"{WAITING} {given.input}"
    return Conversion(name, input_seen(table, own), saved.keys, tuple(own.values()), made)
