"""The tables that a program begins with after a migration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ....contracts.migration import EntriesChange, OperatorChange, WaitingChange
from ....contracts.plan import ProgramInput
from ....contracts.savepoint import SavedOperator
from ...base.errors import unfit
from ...base.options import quoted
from ...state_tables.program_state import (
    POSITION,
    RECORD,
    WAITING,
    WRITTEN,
    entry_table,
    state_name,
)
from ..conversion import as_the_first, column, key_columns, parts_of
from .seen import entries_seen, entry_parts, input_columns, input_seen

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_INPUT = "input"
_ROW = ("at", "number", "event_time", _INPUT)
"""The columns of a waiting row before its own."""


def converted_program(
    tables: Mapping[str, DataFrame],
    saved: SavedOperator,
    change: OperatorChange,
    inputs: tuple[Sequence[ProgramInput], Sequence[ProgramInput]],
) -> dict[str, DataFrame]:
    """The tables by the expressions of a change; `inputs` are the old ones, and the new ones.

    Raises RuntimeFault when several keys would become one.
    """
    from pyspark.sql import functions as F

    keys, names = key_columns(change)
    record = tables[RECORD]
    values = [column(one.expr, name) for name, one in parts_of(change)]
    values += _written(record, change)
    values += [F.col(quoted(name)) for name in record.columns if name.startswith(".")]
    found = {RECORD: record.select(*keys, *values)}
    if change.group:
        found[RECORD] = as_the_first(found[RECORD], names)
    _check_keys(found[RECORD], names, saved)
    for one in change.entries:
        if one.old is None:
            continue
        entries = _entries(tables[entry_table(one.old)], keys, one)
        if one.kind == "map" and one.key != "key":
            _check_keys(entries, [*names, "key"], saved)
        found[entry_table(one.id)] = entries
    if WAITING in tables and change.waiting is not None:
        found[WAITING] = _waiting(tables[WAITING], change, change.waiting, *inputs)
    return found


def _written(record: DataFrame, change: OperatorChange) -> Iterator[Column]:
    """When continuing values were written, some under another name."""
    for id, one in parts_of(change):
        for name in (one.column, id):
            if name is not None and f"{name}.{WRITTEN}" in record.columns:
                yield column(quoted(f"{name}.{WRITTEN}"), f"{id}.{WRITTEN}")
                break


def _check_keys(record: DataFrame, names: Sequence[str], saved: SavedOperator) -> None:
    """No two keys may become one: how to merge two states or map entries is undefined."""
    from pyspark.sql import functions as F

    if not names:
        return
    twice = record.groupBy(*map(quoted, names)).count().where(F.col("count") > 1).head()
    if twice is not None:
        key = ", ".join(f"{name} = {twice[name]}" for name in names)
        help = "accept in the migration file that it starts empty, or leave it out of the spec"
        raise unfit(saved.id, f"several keys become ({key})", help)


def _entries(table: DataFrame, keys: Sequence[Column], one: EntriesChange) -> DataFrame:
    made = entry_parts(one)
    held = [name for name in table.columns if name in ("key", "value", WRITTEN, POSITION)]
    columns = [column(made.get(name, quoted(name)), name) for name in held]
    return entries_seen(table, one).select(*keys, *columns)


def _waiting(
    table: DataFrame,
    change: OperatorChange,
    kept: Sequence[WaitingChange],
    old: Sequence[ProgramInput],
    new: Sequence[ProgramInput],
) -> DataFrame:
    """Waiting rows: the expressions of an input see its columns by their own names."""
    from pyspark.sql import functions as F

    keys = [column(one.expr, f".key {n}") for n, one in enumerate(change.keys)]
    rows = _of_inputs(table, kept, old, new)
    # A column of an input may have one of these names.
    own = {name: f".row {name}" for name in _ROW if name in rows.columns}
    found = rows.select("*", *keys, *(F.col(name).alias(apart) for name, apart in own.items()))
    named: list[tuple[str, str]] = []
    for place, given in enumerate(kept):
        hidden = input_seen(found, input_columns(table, given))
        for number, one in enumerate(given.columns):
            name = f".column {place} {number}"
            named.append((name, f"{_stem(given.input)}{state_name(one.name)}"))
            hidden = hidden.withColumn(name, F.expr(one.expr))
        found = hidden
    columns = [F.col(quoted(apart)).alias(name) for name, apart in own.items()]
    columns += [F.col(quoted(name)).alias(new_name) for name, new_name in named]
    columns += [F.lit(None).alias(name) for name in _added(kept, new)]
    made = [F.col(quoted(f".key {n}")).alias(one.name) for n, one in enumerate(change.keys)]
    return found.select(*made, *columns)


def _of_inputs(
    table: DataFrame,
    kept: Sequence[WaitingChange],
    old: Sequence[ProgramInput],
    new: Sequence[ProgramInput],
) -> DataFrame:
    """The rows of continuing inputs. If there are several, a row has the position of its own."""
    from pyspark.sql import functions as F

    before, after = ([given.alias for given in inputs] for inputs in (old, new))
    place = F.col(_INPUT) if _INPUT in table.columns else F.lit(0)
    moved = F.lit(None).cast("int")
    for given in kept:
        was = before.index(given.old or given.input)
        moved = F.when(place == was, after.index(given.input)).otherwise(moved)
    found = table.withColumn(_INPUT, moved).where(F.col(_INPUT).isNotNull())
    return found if len(new) > 1 else found.drop(_INPUT)


def _added(kept: Iterable[WaitingChange], new: Sequence[ProgramInput]) -> Iterator[str]:
    """The columns of new inputs, which have no waiting rows."""
    known = {given.input for given in kept}
    for given in new:
        if given.alias not in known:
            names = dict.fromkeys(name for one in given.input for name in one.columns or {})
            yield from (f"{_stem(given.alias)}{state_name(name)}" for name in names)


def _stem(alias: str) -> str:
    """The prefix of an input's columns in waiting rows."""
    return f"{state_name(alias)}__"
