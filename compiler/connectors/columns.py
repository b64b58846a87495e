"""Columns that connectors don't have or can't hold: diagnostics shared by several."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.ast import statements as st
from ...dsl.format.words import identifier
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ..model import types
from ..model.schema import Field, Schema
from .interface import Declares

_SHOWN = 40
"""How many characters of a name are shown."""


def declared(node: Declares, field: Field) -> st.Column:
    """Return where a column is declared."""
    return next(c for c in node.columns if c.name.text == field.name)


def no_such_column(node: Declares, field: Field, message: str, help_: str) -> Diagnostic:
    """Return the diagnostic for a declared column that does not exist."""
    return Diagnostic(codes.SOURCE_COLUMNS, message, Label(declared(node, field).span), help=help_)


def only_these(
    node: Declares, columns: tuple[Field, ...], given: dict[str, str], what: str, example: str
) -> Iterator[Diagnostic]:
    """Yield declared columns other than those ``given``, with their types.

    ``what`` has no such column; ``example`` computes one from existing ones.
    """
    listed = " and ".join(f"`{name} {type_}`" for name, type_ in given.items())
    for field in columns:
        if given.get(field.name) != str(field.type):
            yield no_such_column(
                node,
                field,
                f"{what} has no column `{field.name} {field.type}`",
                f"it has {listed}; compute others, as in `{field.name} AS {example}`",
            )


def one_text(
    node: Declares, columns: tuple[Field, ...], row: str, name: str
) -> Iterator[Diagnostic]:
    """Yield the diagnostic for a ``row`` of format ``text`` with other columns than one text."""
    if columns and [f.type for f in columns] != [types.STRING]:
        yield Diagnostic(
            codes.SOURCE_COLUMNS,
            f"a {row} of format `text` is one STRING column",
            Label(node.name.span, f"`{node.name}` declares other columns"),
            help=f"declare `{name} STRING`, and compute other columns from it",
        )


def unwritable(node: st.CreateSink, message: str, label: str, help_: str) -> Diagnostic:
    """Return the diagnostic for a column that a sink can't hold."""
    return Diagnostic(codes.SINK_COLUMNS, message, Label(node.stream.span, label), help=help_)


def one_text_written(node: st.CreateSink, schema: Schema) -> Iterator[Diagnostic]:
    """Yield the diagnostic for lines of format ``text`` from other columns than one text."""
    if [f.type for f in schema] != [types.STRING]:
        shown = ", ".join(f"{f.name} {f.type}" for f in schema)
        yield unwritable(
            node,
            "a line of format `text` is one STRING column",
            f"it has: {shown}",
            "select only that column, as in `CONCAT_WS(' ', a, b) AS line`, or write `json`",
        )


def unwritable_name(node: st.CreateSink, form: str, name: str, why: str) -> Diagnostic:
    """Return the diagnostic for a name of a column or field that a sink can't write."""
    shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
    return unwritable(
        node,
        f"a sink of `{form}` can't write a column or field called `{shown}`",
        why,
        f"give it another name in the stream, as in `SELECT {identifier(shown)} AS short_name`",
    )


def not_in_csv(node: st.CreateSink, schema: Schema) -> Iterator[Diagnostic]:
    """Yield the columns that a line of csv can't hold."""
    for field in schema:
        if types.is_nested(field.type):
            yield unwritable(
                node,
                f"a csv line can't hold `{field.name} {field.type}`",
                "has this column",
                f"select its parts, or a string, as in `TO_JSON({field.name})`",
            )


def names_in(field: Field) -> Iterator[str]:
    """Yield the names of a column and of its fields."""
    yield field.name
    yield from _fields(field.type)


def _fields(type_: types.Type) -> Iterator[str]:
    match type_:
        case types.Array(element):
            yield from _fields(element)
        case types.Map(key, value):
            yield from _fields(key)
            yield from _fields(value)
        case types.Struct(fields):
            for field in fields:
                yield field.name
                yield from _fields(field.type)
