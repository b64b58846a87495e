"""The tables of an operator after a migration: each new key and cell by its expression.

Expressions are Spark SQL over the old columns by their names. Where several old keys become one,
cells are merged, each by its own function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..options import quoted
from .model import SavedOperator
from .programs import RECORD, WAITING, entry_table
from .tables import EXPIRES, MATCHED, POSITION, SIDES, STATE, WINDOW, key_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Change = Mapping[str, Any]


def transformed(
    tables: Mapping[str, DataFrame], saved: SavedOperator, change: Change
) -> dict[str, DataFrame]:
    """The tables that the new operator begins with; `change` is its part of the migration."""
    if change.get("where") and saved.kind not in ("join", "operator"):
        tables = {name: table.where(change["where"]) for name, table in tables.items()}
    match saved.kind:
        case "join":
            return {
                side: _side(tables[side], new)
                for side, new in zip(SIDES, change["sides"], strict=True)
            }
        case "dedup":
            return {STATE: _dedup(tables[STATE], change)}
        case "operator":
            return _program(tables, saved, change)
    return {STATE: _aggregate(tables[STATE], change)}


def _aggregate(table: DataFrame, change: Change) -> DataFrame:
    keys = [_column(one["expr"], one["name"]) for one in change["keys"]]
    names = [one["name"] for one in change["keys"]]
    if change.get("window"):
        keys.append(_column(change["window"]["expr"], WINDOW))
        names.append(WINDOW)
    cells = [_column(one["expr"], one["id"]) for one in change["cells"]]
    found = table.select(*keys, *cells)
    if not change.get("group"):
        return found
    from pyspark.sql import functions as F

    merged = [F.expr(_merge(one)).alias(one["id"]) for one in change["cells"]]
    return found.groupBy(*map(quoted, names)).agg(*merged)


_MERGES = {
    "any": "any_value({})",
    **{f: f"{f}({{}})" for f in ("sum", "min", "max", "bool_and", "bool_or")},
    **{f: f"{f}({{}})" for f in ("bit_and", "bit_or", "bit_xor")},
}


def _merge(cell: Mapping[str, Any]) -> str:
    """The expression that makes one of several cells."""
    merge = cell["merge"]
    return str(_MERGES.get(merge, merge)).replace("{}", quoted(cell["id"]))


def _dedup(table: DataFrame, change: Change) -> DataFrame:
    from pyspark.sql import functions as F

    keys = [_column(one["expr"], one["name"]) for one in change["keys"]]
    shift = int(change.get("shift_expiry_micros", 0))
    expires = F.expr(f"timestamp_micros(unix_micros({EXPIRES}) + {shift}L)").alias(EXPIRES)
    found = table.select(*keys, expires)
    if not change.get("group"):
        return found
    names = [quoted(one["name"]) for one in change["keys"]]
    return found.groupBy(*names).agg(F.max(EXPIRES).alias(EXPIRES))


def _side(table: DataFrame, new: Mapping[str, Any]) -> DataFrame:
    keys = [_column(expr, key_column(place)) for place, expr in enumerate(new["keys"])]
    columns = [_column(one["expr"], one["name"]) for one in new["columns"]]
    return table.select(*keys, POSITION, *columns, MATCHED)


def _program(
    tables: Mapping[str, DataFrame], saved: SavedOperator, change: Change
) -> dict[str, DataFrame]:
    keys = [_column(one["expr"], one["name"]) for one in change["keys"]]
    record = tables[RECORD]
    cells = [*change["cells"], *({**one, "id": one["name"]} for one in change.get("timers", ()))]
    named = {one["id"] for one in cells}
    kept = [c for c in record.columns if c.startswith(".") or c.removesuffix(".written") in named]
    rest = [c for c in kept if c not in named and c not in saved.keys]
    values = [_column(one["expr"], one["id"]) for one in cells]
    found = {RECORD: record.select(*keys, *values, *map(quoted, rest))}
    for one in change.get("entries", ()):
        if one["from"] is not None:
            found[entry_table(one["id"])] = _entries(tables[entry_table(one["from"])], keys, one)
    if WAITING in tables and change.get("waiting") is not None:
        found[WAITING] = _waiting(tables[WAITING], keys, change["waiting"])
    return found


def _entries(table: DataFrame, keys: Sequence[Column], one: Mapping[str, Any]) -> DataFrame:
    held = [name for name in table.columns if name in ("key", "value", "written", POSITION)]
    columns = [_column(one.get(name) or quoted(name), name) for name in held]
    return table.select(*keys, *columns)


def _waiting(
    table: DataFrame, keys: Sequence[Column], inputs: Sequence[Mapping[str, Any]]
) -> DataFrame:
    """Rows that wait, with the columns of all inputs; what stands before them stays as it is."""
    from ..program_state import state_name

    own = ("at", "number", "event_time", "input")
    columns = [_column(quoted(name), name) for name in own if name in table.columns]
    for given in inputs:
        stem = state_name(given["input"])
        for one in given["columns"]:
            columns.append(_column(one["expr"], f"{stem}__{state_name(one['name'])}"))
    return table.select(*keys, *columns)


def _column(expression: str, name: str) -> Column:
    from pyspark.sql import functions as F

    return F.expr(expression).alias(name)
