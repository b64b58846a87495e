"""CREATE TABLE: reference data, its columns, its connector, how often it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast import statements as st
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.syntax.spelling import unit_of
from ...connectors.options import REFRESH
from ...connectors.registry import TABLES
from ...model.intervals import micros_text
from ...model.pipeline import Endpoint, Table
from ...model.schema import Duration, Schema
from .durations import duration
from .options import endpoint
from .source_columns import computed_columns, read_columns

_MILLISECOND = 1_000
_PART = re.compile(r"(\d+)\s*([A-Za-z]+)")


def resolve_table(
    node: st.CreateTable, variables: Mapping[str, str | None], diagnostics: Diagnostics
) -> tuple[Schema, Table | None]:
    """Return the table's schema (for lookups) and the table, None if it has errors."""
    before = len(diagnostics)
    point = endpoint(node.options, node.name, TABLES, variables, diagnostics)
    physical = read_columns(node, diagnostics)
    _refuse_arrival(node, diagnostics)
    computed = computed_columns(node, Schema(physical), diagnostics)
    schema = Schema(physical + tuple(replace(field, proctime=False) for _, field in computed))
    if point is None:
        return schema, None
    diagnostics.extend(TABLES[point.connector].check_columns(node, point, physical))
    refresh = _refresh(node, diagnostics)
    if len(diagnostics) > before:
        return schema, None
    return schema, Table(
        node.name.text,
        Endpoint(point.connector, _without_refresh(point), point.passed),
        physical,
        tuple(column for column, _ in computed),
        refresh,
        schema,
        node.name.span,
    )


def _without_refresh(point: Endpoint) -> tuple[tuple[str, str], ...]:
    """How often a table is read is part of the table, not of its connector."""
    return tuple((name, text) for name, text in point.options if name != REFRESH.name)


def _refuse_arrival(node: st.CreateTable, diagnostics: Diagnostics) -> None:
    """Report columns that only arriving rows can have."""
    for column in node.columns:
        call = column.expression
        if column.metadata_key is not None:
            diagnostics.add(_no_metadata(column))
        elif isinstance(call, e.Call) and call.name.text.lower() == "proctime":
            diagnostics.add(_no_proctime(column))


def _refresh(node: st.CreateTable, diagnostics: Diagnostics) -> Duration | None:
    option = next((o for o in node.options if o.name.text == REFRESH.name), None)
    if option is None:
        return None
    span = option.value_span
    parts = [
        e.IntervalPart(span, amount, unit_of(unit)) for amount, unit in _PART.findall(option.value)
    ]
    if not parts or _PART.sub("", option.value).strip(" ,"):
        diagnostics.add(_no_length(option))
        return None
    found = duration(e.Interval(span, tuple(parts)), "`refresh`", diagnostics)
    if found is not None and found.micros % _MILLISECOND:
        diagnostics.add(_too_fine(option))
    return None if found is None else Duration(found.micros, micros_text(found.micros))


def _no_length(option: st.Option) -> Diagnostic:
    return Diagnostic(
        codes.NO_FIXED_LENGTH,
        "`refresh` must be a duration",
        Label(option.value_span),
        help="for example '10 minutes'; without it, the table is read once per run",
    )


def _too_fine(option: st.Option) -> Diagnostic:
    return Diagnostic(
        codes.NO_FIXED_LENGTH,
        "`refresh` must be a whole number of milliseconds",
        Label(option.value_span),
        help="write '1 millisecond' to read the table for each batch",
    )


def _no_metadata(column: st.Column) -> Diagnostic:
    return Diagnostic(
        codes.METADATA_KEY,
        "a table has no metadata: it consists of rows, not of the files they come from",
        Label(column.span),
        help="leave out the column",
    )


def _no_proctime(column: st.Column) -> Diagnostic:
    return Diagnostic(
        codes.PROCTIME_FORM,
        "rows of a table do not arrive, so they have no processing time",
        Label(column.span),
        help="declare the column in the source",
    )


def not_a_stream(name: Name, use: str) -> Diagnostic:
    """Return the diagnostic for a table used as a stream; ``use`` is what reads it."""
    return Diagnostic(
        codes.TABLE_AS_STREAM,
        f"`{name}` is a table, but {use} needs rows that arrive",
        Label(name.span),
        help=f"look up rows in it: `FROM orders AS o JOIN {name} AS t ON t.id = o.id`; or declare "
        "it as a source, if its rows are the input",
    )
