"""What a migration makes of each table of a program, before it is put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ....contracts.migration import OperatorChange, WaitingChange
from ....contracts.savepoint import SavedOperator
from ...state_tables.program_state import RECORD, WAITING, WRITTEN, entry_table
from ..conversion import Conversion, MadeColumn, made_keys, made_parts
from .seen import ENTRY, entries_seen, entry_parts, input_columns, input_seen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def program_conversions(
    tables: Mapping[str, DataFrame], saved: SavedOperator, change: OperatorChange
) -> Iterator[Conversion]:
    """Yields what is made of the records, of the entries of each cell, and of rows that wait."""
    record = tables[RECORD]
    columns = tuple(
        name
        for name in saved.cells
        if not name.startswith(".") and not name.endswith(f".{WRITTEN}") and name in record.columns
    )
    yield Conversion(RECORD, record, saved.keys, columns, (*made_keys(change), *made_parts(change)))
    for one in change.entries:
        if one.old is not None:
            name, rows = entry_table(one.id), entries_seen(tables[entry_table(one.old)], one)
            made = tuple(
                MadeColumn(f"{one.id}: {column}", column, sql)
                for column, sql in entry_parts(one).items()
            )
            yield Conversion(name, rows, saved.keys, ENTRY[one.kind], made)
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
