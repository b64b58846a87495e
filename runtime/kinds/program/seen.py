"""Entries and rows that wait of a program, as the expressions of a migration see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....contracts.migration import EntriesChange, WaitingChange
from ...base.options import quoted
from ...state_tables.program_state import state_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ENTRY = {"map": ("key", "value"), "set": ("key",), "list": ("value",)}
"""The computed columns of entries."""


def entry_parts(one: EntriesChange) -> dict[str, str]:
    """The SQL of the columns of an entry; the element of a list is its `key`, as for a set."""
    if one.kind == "list":
        return {"value": "value" if one.key in (None, "key") else one.key}
    given = {"key": one.key, "value": one.value}
    return {column: given[column] or quoted(column) for column in ENTRY[one.kind]}


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
    """The columns of an input's waiting rows, and their own names."""
    stem = f"{state_name(given.old or given.input)}__"
    own = [name for name in table.columns if name.startswith(stem)]
    return {name: name.removeprefix(stem) for name in own}
