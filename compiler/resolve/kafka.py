"""Kafka: whether messages of a format can hold the columns of a source, or of what a sink reads."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import codes
from ...dsl.ast import statements as st
from ...dsl.diagnostics import Diagnostic, Diagnostics, Label
from ..model import connectors, types
from ..model.pipeline import Endpoint
from ..model.schema import Field, Schema


def check_messages(
    node: st.CreateSource, point: Endpoint, columns: tuple[Field, ...], diagnostics: Diagnostics
) -> None:
    """Tell of columns that messages don't have: JSON and CSV may have any."""
    match point.option("format"):
        case "text" if [f.type for f in columns] != [types.STRING] and columns:
            diagnostics.add(
                Diagnostic(
                    codes.SOURCE_COLUMNS,
                    "a message of format `text` is one STRING column",
                    Label(node.name.span, f"`{node.name}` declares others"),
                    help="declare `value STRING`, and compute other columns from it",
                )
            )
        case "raw":
            for field in columns:
                if connectors.KAFKA_RAW_COLUMNS.get(field.name) != str(field.type):
                    column = next(c for c in node.columns if c.name.text == field.name)
                    diagnostics.add(_not_raw(field, column))


def check_rows(
    node: st.CreateSink, point: Endpoint, key: tuple[str, ...], schema: Schema
) -> Iterator[Diagnostic]:
    """Yield what is wrong with the rows of a sink: as `text`, a message is one STRING column."""
    rest = [f for f in schema if f.name not in key]
    if point.option("format") == "text" and [f.type for f in rest] != [types.STRING]:
        shown = ", ".join(f"{f.name} {f.type}" for f in rest) or "none"
        yield Diagnostic(
            codes.SINK_COLUMNS,
            "a message of format `text` is one STRING column",
            Label(node.stream.span, f"besides the key it has: {shown}"),
            help="select that column only, or take the format `json`",
        )


def _not_raw(field: Field, column: st.Column) -> Diagnostic:
    return Diagnostic(
        codes.SOURCE_COLUMNS,
        f"a message of format `raw` has no column `{field.name} {field.type}`",
        Label(column.span),
        help="it gives `key BINARY` and `value BINARY`; compute others, as in "
        f"`{field.name} AS CAST(value AS STRING)`",
    )
