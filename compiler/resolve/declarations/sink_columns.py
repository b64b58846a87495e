"""Whether a sink can write the columns of what it reads."""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl import codes
from ....dsl.ast import statements as st
from ....dsl.diagnostics import Diagnostic, Label
from ....dsl.format.words import identifier
from ...model import types
from ...model.pipeline import Endpoint
from ...model.schema import Schema
from .field_names import refused_names

_SHOWN = 40
"""Characters of a name that are shown."""


def check_sink_columns(
    node: st.CreateSink, point: Endpoint, key: tuple[str, ...], schema: Schema
) -> Iterator[Diagnostic]:
    """Yield the columns that a connector, or the format of its files or messages, can't hold."""
    form = point.option("format") if point.connector == "files" else point.connector
    for name, why in refused_names(form, schema.fields):
        shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
        yield _refused(
            node,
            f"a sink of `{form}` can't write a column or field that is called `{shown}`",
            why,
            f"give it another name in the stream, as in `SELECT {identifier(shown)} AS short_name`",
        )
    match point.connector:
        case "kafka" if point.option("format") == "text":
            rest = [f for f in schema if f.name not in key]
            if [f.type for f in rest] != [types.STRING]:
                shown = ", ".join(f"{f.name} {f.type}" for f in rest) or "none"
                yield _refused(
                    node,
                    "a message of format `text` is one STRING column",
                    f"besides the key it has: {shown}",
                    "select that column only, or take the format `json`",
                )
        case "kafka" | "files" if point.option("format") == "csv":
            for field in schema:
                if types.is_nested(field.type):
                    yield _refused(
                        node,
                        f"a line of csv can't hold `{field.name} {field.type}`",
                        "has this column",
                        f"select its parts, or a text, as in `TO_JSON({field.name})`",
                    )
        case "postgres":
            for field in schema:
                if isinstance(field.type, types.IntervalType):
                    yield _refused(
                        node,
                        f"a table can't take `{field.name} {field.type}`",
                        "has this column",
                        "select the ends of it, or its length as a number",
                    )


def _refused(node: st.CreateSink, message: str, label: str, help_: str) -> Diagnostic:
    return Diagnostic(codes.SINK_COLUMNS, message, Label(node.stream.span, label), help=help_)
