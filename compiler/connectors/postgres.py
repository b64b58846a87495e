"""PostgreSQL: a sink that adds rows to a table, or replaces them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from ...contracts.sinks import SINKS
from ...dsl.ast import statements as st
from ...dsl.reports.diagnostics import Diagnostic
from ..model import types
from ..model.pipeline import Endpoint
from ..model.schema import Schema
from .columns import unwritable, unwritable_name
from .interface import Connector, SinkRole
from .options import TEXT, Concern, Option

_LONGEST = 63
"""Bytes of a name in PostgreSQL, which truncates longer ones: two columns could become one."""

_OF_EVERY_TABLE = frozenset("tableoid xmin cmin xmax cmax ctid".split())
"""Columns that every table has already."""


class PostgresSink(SinkRole):
    """A table to which rows are added, or in which they are replaced."""

    options = (
        Option("url", Concern.SERVER, "a connection URL of libpq", kind=TEXT, required=True),
        Option("table", Concern.PLACE, "the table, made if need be", kind=TEXT, required=True),
        Option("user", Concern.SERVER, "the account", kind=TEXT),
        Option(
            "password",
            Concern.SERVER,
            "its password, by [reference](language.md#secrets) only",
            kind=TEXT,
        ),
    )
    one_of = ()
    spark = None
    promise = SINKS["postgres"]
    takes_changes = False
    sends_key = False

    def check_columns(
        self, node: st.CreateSink, point: Endpoint, key: tuple[str, ...], schema: Schema
    ) -> Iterator[Diagnostic]:
        for field in schema:
            if (why := _refused(field.name)) is not None:
                yield unwritable_name(node, "postgres", field.name, why)
        for field in schema:
            if isinstance(field.type, types.IntervalType):
                yield unwritable(
                    node,
                    f"a table can't hold `{field.name} {field.type}`",
                    "has this column",
                    "select the ends of it, or its length as a number",
                )


class Postgres(Connector):
    """PostgreSQL."""

    name = "postgres"
    source = None
    table = None
    sink = PostgresSink()
    elsewhere: ClassVar[Mapping[str, str]] = {
        "jdbc": "write `connector = 'postgres'`",
        "postgres-cdc": "write `connector = 'postgres'` in a sink; changes are not read",
    }


def _refused(name: str) -> str | None:
    if name in _OF_EVERY_TABLE:
        return "every table in PostgreSQL has a system column of that name"
    size = len(name.encode("utf-8"))
    if size <= _LONGEST:
        return None
    return f"it has {size} bytes, and PostgreSQL truncates names to {_LONGEST}"
