"""The columns of a source: physical ones, those of its connector, computed ones."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast import statements as st
from ....dsl.ast.node import Name
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.suggest import closest
from ...connectors.interface import Declares
from ...connectors.registry import SOURCES
from ...model import types
from ...model.pipeline import Metadata
from ...model.schema import Field, Schema
from ...model.steps import Column
from ...model.typed import Typed
from ..expressions.resolve import Clause, check
from ..scopes.scope import BlockScope, Visible

_COMPUTED = Clause("a computed column", aggregates=False)


def read_columns(node: Declares, diagnostics: Diagnostics) -> tuple[Field, ...]:
    """Return the columns that the connector reads; report any that are declared twice."""
    fields: list[Field] = []
    seen: dict[str, st.Column] = {}
    for column in node.columns:
        first = seen.setdefault(column.name.text.lower(), column)
        if first is not column:
            diagnostics.add(duplicate_column(column.name.text, column, first))
            continue
        if column.type is not None and column.metadata_key is None:
            type_ = types.from_node(column.type, diagnostics)
            fields.append(Field(column.name.text, type_, not column.not_null))
    if not fields and not any(c.metadata_key for c in node.columns):
        diagnostics.add(_no_columns(node))
    return tuple(fields)


def metadata_columns(
    node: st.CreateSource, connector: str | None, diagnostics: Diagnostics
) -> tuple[Metadata, ...]:
    """Return the columns that the connector provides; None stands for a connector with mistakes."""
    known = {} if connector is None else SOURCES[connector].metadata
    found: dict[str, Metadata] = {}
    for column in node.columns:
        key = column.metadata_key
        if key is None or column.type is None:
            continue
        type_ = types.from_node(column.type, diagnostics)
        if connector is not None and key not in known:
            diagnostics.add(_unknown_key(column, connector, tuple(known)))
        elif connector is not None and type_ is not types.UNKNOWN and str(type_) != known[key]:
            diagnostics.add(_key_type(column, known[key]))
        field = Field(column.name.text, type_)
        found.setdefault(column.name.text.lower(), Metadata(field, key))
    return tuple(found.values())


def computed_columns(
    node: Declares, read: Schema, diagnostics: Diagnostics
) -> tuple[tuple[Column, Field], ...]:
    """Return the computed columns; each may use physical ones and those before it.

    The processing time, ``PROCTIME()``, is the instant of the batch that reads the row.
    """
    columns: list[tuple[Column, Field]] = []
    visible = read
    for column in node.columns:
        if column.expression is None:
            continue
        name = column.name.text
        proctime = _is_proctime(column.expression)
        if proctime:
            typed = _now(column.expression)
        elif (call := _proctime_within(column.expression)) is not None:
            diagnostics.add(_proctime_form(column, call))
            typed = Typed(column.expression, types.UNKNOWN)
        else:
            scope = BlockScope((Visible(node.name.text, visible, node.name.span),), diagnostics)
            typed = check(column.expression, scope, _COMPUTED, diagnostics)
        if visible.find(name) is None:
            field = Field(name, typed.type, typed.nullable, proctime=proctime)
            columns.append((Column(name, typed), field))
            visible = Schema((*visible.fields, field))
    return tuple(columns)


def _is_proctime(expression: e.Expression) -> bool:
    return (
        isinstance(expression, e.Call)
        and expression.name.text.lower() == "proctime"
        and not expression.arguments
    )


def _proctime_within(expression: e.Expression) -> e.Call | None:
    calls = (node for node in walk(expression) if isinstance(node, e.Call))
    return next((call for call in calls if call.name.text.lower() == "proctime"), None)


def _now(call: e.Expression) -> Typed:
    now = e.Call(call.span, Name(call.span, "current_timestamp"), ())
    return Typed(now, types.TIMESTAMP, nullable=False)


def _unknown_key(column: st.Column, connector: str, known: tuple[str, ...]) -> Diagnostic:
    near = closest(column.metadata_key or "", known)
    listed = ", ".join(f"`{key}`" for key in known)
    return Diagnostic(
        codes.METADATA_KEY,
        f"connector `{connector}` has no metadata `{column.metadata_key}`",
        Label(column.span),
        help=f"did you mean `{near[0]}`?"
        if near
        else (f"it has: {listed}" if known else "it has none: leave out the column"),
    )


def _key_type(column: st.Column, wanted: str) -> Diagnostic:
    return Diagnostic(
        codes.METADATA_KEY,
        f"metadata `{column.metadata_key}` is {wanted}",
        Label(column.span),
        help=f"declare `{column.name} {wanted} METADATA FROM '{column.metadata_key}'`",
    )


def _proctime_form(column: st.Column, call: e.Call) -> Diagnostic:
    return Diagnostic(
        codes.PROCTIME_FORM,
        "PROCTIME() must be a column by itself",
        Label(call.span, "inside an expression" if not call.arguments else "takes no arguments"),
        help="declare `arrived AS PROCTIME()`, and compute from `arrived`",
    )


def _no_columns(node: Declares) -> Diagnostic:
    return Diagnostic(
        codes.SOURCE_COLUMNS,
        f"`{node.name}` declares no columns",
        Label(node.name.span),
        help="declare them, as in `(id STRING NOT NULL, at TIMESTAMP)`",
    )


def duplicate_column(name: str, again: st.Column, first: st.Column) -> Diagnostic:
    """Return the diagnostic for a column that is declared twice."""
    return Diagnostic(
        codes.DUPLICATE_COLUMN,
        f"column `{name}` is declared twice",
        Label(again.name.span, "declared again"),
        secondary=(Label(first.name.span, "first declared here"),),
        help="give one of them another name: names are case-insensitive",
    )
