"""The tables of an operator after a migration: each new key and cell by its expression.

Expressions are Spark SQL over the old columns by their names. Where several old keys become one,
cells are merged, each by its own function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ....contracts.migration import (
    CellChange,
    EntriesChange,
    Made,
    OperatorChange,
    SideChange,
    WaitingChange,
)
from ....contracts.plan import Operator, ProgramInput, inputs_of
from ....contracts.savepoint import SavedOperator
from ...base.errors import RuntimeFault, unfit
from ...base.options import quoted
from ...kernel.load import kernel_class
from ...state_tables.program_state import (
    ARMED,
    INNER,
    POSITION,
    RECORD,
    WAITING,
    WRITTEN,
    entry_table,
    state_name,
)
from ...state_tables.tables import EXPIRES, MATCHED, STATE, WINDOW, key_column
from .conversions import (
    changed_sides,
    entries_seen,
    entry_parts,
    expiry,
    input_columns,
    input_seen,
    old_keys,
    rows_kept,
    side_seen,
)
from .ttl import gets_lifetimes, woken

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_WORDS = frozenset(
    {"sum", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor"},
)
_INPUT = "input"
_ROW = ("at", "number", "event_time", _INPUT)
"""What a row that waits has before its columns."""


def transformed(
    tables: Mapping[str, DataFrame],
    saved: SavedOperator,
    change: OperatorChange,
    old: Operator,
    new: Operator,
) -> dict[str, DataFrame]:
    """The tables that the new operator begins with.

    `change` is its part of the migration, `old` and `new` what the plans say of the operator.
    Raises RuntimeFault for what this version cannot carry out.
    """
    check_change(saved, change)
    tables = rows_kept(tables, saved, change)
    match saved.kind:
        case "join":
            return {
                side: _side(tables[was], new, old_keys(old, was))
                for side, was, new in changed_sides(change)
            }
        case "dedup" if change.kind == "operator":
            return _ids(tables[STATE], change)
        case "dedup":
            return {STATE: _dedup(tables[STATE], change)}
        case "operator" if change.kind == "dedup":
            return {STATE: _dedup(tables[RECORD], change)}
        case "operator":
            made = _program(tables, saved, change, (inputs_of(old), inputs_of(new)))
            if gets_lifetimes(change, old, new):
                made[RECORD] = woken(made, _keys(change)[1], new)
            return made
    if change.kind == "session" and change.group:
        return {STATE: _sessions(tables[STATE], change)}
    return {STATE: _aggregate(tables[STATE], change)}


def check_change(saved: SavedOperator, change: OperatorChange) -> None:
    """Raises RuntimeFault for what this version cannot carry out."""
    computed = change.backfill or ()
    for cell in change.cells:
        if cell.opaque and cell.id not in computed:
            reason = f"`{cell.id}` would begin with a buffer that only Spark makes"
            raise unfit(saved.id, reason, "have it backfilled, or leave it out of the spec")


def _refused(saved: SavedOperator, reason: str) -> RuntimeFault:
    help = "accept in the migration file that it starts empty, or leave it out of the spec"
    return unfit(saved.id, reason, help)


def _aggregate(table: DataFrame, change: OperatorChange) -> DataFrame:
    keys, names = _keys(change)
    if (window := change.window) is not None:
        sql = f"explode({window.expr})" if window.several else window.expr
        keys.append(_column(sql, WINDOW))
        names.append(WINDOW)
    cells = [_column(one.expr, one.id) for one in change.cells]
    found = table.select(*keys, *cells)
    if not change.group:
        return found
    return found.groupBy(*map(quoted, names)).agg(*_merged(change, table.sparkSession))


def _sessions(table: DataFrame, change: OperatorChange) -> DataFrame:
    """Sessions that have come to touch are one: as many as there are starts behind all ends."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    keys, names = _keys(change)
    assert change.window is not None
    window = _column(change.window.expr, WINDOW)
    cells = [_column(one.expr, one.id) for one in change.cells]
    found = table.select(*keys, window, *cells)
    own = Window.partitionBy(*map(quoted, names)).orderBy(f"{WINDOW}.start", f"{WINDOW}.end")
    before = F.max(f"{WINDOW}.end").over(own.rowsBetween(Window.unboundedPreceding, -1))
    begins = F.when(before >= F.col(f"{WINDOW}.start"), 0).otherwise(1)
    numbered = found.withColumn(".begins", begins).withColumn(
        ".session", F.sum("`.begins`").over(own.rowsBetween(Window.unboundedPreceding, 0))
    )
    whole = F.struct(F.min(f"{WINDOW}.start").alias("start"), F.max(f"{WINDOW}.end").alias("end"))
    merged = numbered.groupBy(*map(quoted, names), "`.session`").agg(
        whole.alias(WINDOW), *_merged(change, table.sparkSession)
    )
    return merged.drop(".session")


def _keys(change: OperatorChange) -> tuple[list[Column], list[str]]:
    keys = [_column(one.expr, one.name) for one in change.keys]
    return keys, [one.name for one in change.keys]


def _merged(change: OperatorChange, spark: SparkSession) -> list[Column]:
    return [_merge(one, spark).alias(one.id) for one in change.cells]


def _merge(cell: CellChange, spark: SparkSession) -> Column:
    """What makes one of several cells, over the converted rows."""
    from pyspark.sql import Column
    from pyspark.sql import functions as F

    name = quoted(cell.id)
    match cell.merge:
        case None:
            raise AssertionError(f"{cell.id} can't be made of several")
        case "any":
            return F.expr(f"any_value({name})")
        case "buffers":
            buffers = kernel_class(spark._jvm, "Buffers")
            return Column(buffers.merged(spark._jsparkSession, cell.of, cell.id))
        case "registers":
            return Column(kernel_class(spark._jvm, "Buffers").registers(cell.id))
    return F.expr(f"{cell.merge}({name})" if cell.merge in _WORDS else cell.merge)


def _dedup(table: DataFrame, change: OperatorChange) -> DataFrame:
    keys, names = _keys(change)
    found = table.select(*keys, _column(expiry(change), EXPIRES))
    if not change.group:
        return found
    return _as_the_first(found, names)


def _as_the_first(ids: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Ids that become one: seen when the first of them was, and forgotten then."""
    from pyspark.sql import functions as F

    instants = [name for name in ids.columns if name not in keys]
    first = [F.min(quoted(name)).alias(name) for name in instants]
    return ids.groupBy(*map(quoted, keys)).agg(*first)


def _ids(table: DataFrame, change: OperatorChange) -> dict[str, DataFrame]:
    """Ids that Spark remembered as the records of a program."""
    from pyspark.sql import functions as F

    keys, names = _keys(change)
    found = table.select(*keys, *(_column(one.expr, name) for name, one in _values(change)))
    if change.group:
        found = _as_the_first(found, names)
    # Who is woken too early goes on sleeping.
    wakes = [F.unix_millis(quoted(one.name)) for one in change.timers]
    inner = {name: F.lit(None).cast("bigint") for name in INNER}
    return {RECORD: found.withColumns({**inner, ARMED: F.least(F.lit(None), *wakes)})}


def _side(table: DataFrame, new: SideChange, names: Sequence[str]) -> DataFrame:
    seen = side_seen(table, names)
    keys = [_column(expr, key_column(place)) for place, expr in enumerate(new.keys)]
    columns = [_column(one.expr, one.name) for one in new.columns]
    return seen.select(*keys, POSITION, *columns, MATCHED)


def _program(
    tables: Mapping[str, DataFrame],
    saved: SavedOperator,
    change: OperatorChange,
    inputs: tuple[Sequence[ProgramInput], Sequence[ProgramInput]],
) -> dict[str, DataFrame]:
    from pyspark.sql import functions as F

    keys, names = _keys(change)
    record = tables[RECORD]
    values = [_column(one.expr, name) for name, one in _values(change)]
    values += _written(record, change)
    values += [F.col(quoted(name)) for name in record.columns if name.startswith(".")]
    found = {RECORD: record.select(*keys, *values)}
    if change.group:
        found[RECORD] = _as_the_first(found[RECORD], names)
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


def _values(change: OperatorChange) -> Iterator[tuple[str, CellChange | Made]]:
    """Yields what values and timers are made of, with what they are called."""
    yield from ((cell.id, cell) for cell in change.cells)
    yield from ((timer.name, timer) for timer in change.timers)


def _written(record: DataFrame, change: OperatorChange) -> Iterator[Column]:
    """When values were written that go on, some under another name."""
    for id, one in _values(change):
        for name in (one.column, id):
            if name is not None and f"{name}.{WRITTEN}" in record.columns:
                yield _column(quoted(f"{name}.{WRITTEN}"), f"{id}.{WRITTEN}")
                break


def _check_keys(record: DataFrame, names: Sequence[str], saved: SavedOperator) -> None:
    """No two keys may become one: nobody says what becomes of two states or entries of a map."""
    from pyspark.sql import functions as F

    if not names:
        return
    twice = record.groupBy(*map(quoted, names)).count().where(F.col("count") > 1).head()
    if twice is not None:
        key = ", ".join(f"{name} = {twice[name]}" for name in names)
        raise _refused(saved, f"several keys become ({key})")


def _entries(table: DataFrame, keys: Sequence[Column], one: EntriesChange) -> DataFrame:
    made = entry_parts(one)
    held = [name for name in table.columns if name in ("key", "value", WRITTEN, POSITION)]
    columns = [_column(made.get(name, quoted(name)), name) for name in held]
    return entries_seen(table, one).select(*keys, *columns)


def _waiting(
    table: DataFrame,
    change: OperatorChange,
    kept: Sequence[WaitingChange],
    old: Sequence[ProgramInput],
    new: Sequence[ProgramInput],
) -> DataFrame:
    """Rows that wait: the expressions of an input see its columns by their own names."""
    from pyspark.sql import functions as F

    keys = [_column(one.expr, f".key {n}") for n, one in enumerate(change.keys)]
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
    """The rows of inputs that go on. Where there are several, a row has the place of its own."""
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
    """The columns of inputs that are new: no row that waits is of one."""
    known = {given.input for given in kept}
    for given in new:
        if given.alias not in known:
            names = dict.fromkeys(name for one in given.input for name in one.columns or {})
            yield from (f"{_stem(given.alias)}{state_name(name)}" for name in names)


def _stem(alias: str) -> str:
    """What the columns of an input begin with, as rows that wait have them."""
    return f"{state_name(alias)}__"


def _column(expression: str, name: str) -> Column:
    from pyspark.sql import functions as F

    return F.expr(expression).alias(name)
