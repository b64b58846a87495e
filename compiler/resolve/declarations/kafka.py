"""Kafka sources: whether a message, read in the format of the source, has the declared columns."""

from __future__ import annotations

from ....dsl import codes
from ....dsl.ast import statements as st
from ....dsl.diagnostics import Diagnostic, Diagnostics, Label
from ...model import connectors, types
from ...model.pipeline import Endpoint
from ...model.schema import Field


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


def _not_raw(field: Field, column: st.Column) -> Diagnostic:
    return Diagnostic(
        codes.SOURCE_COLUMNS,
        f"a message of format `raw` has no column `{field.name} {field.type}`",
        Label(column.span),
        help="it gives `key BINARY` and `value BINARY`; compute others, as in "
        f"`{field.name} AS CAST(value AS STRING)`",
    )
