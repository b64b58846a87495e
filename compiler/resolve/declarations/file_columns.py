"""Sources of files: whether files of a format can have the declared columns."""

from __future__ import annotations

from ....dsl import codes
from ....dsl.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types
from ...model.pipeline import Endpoint
from ...model.schema import Field
from .field_names import refused_names
from .source_columns import Declares

_NESTED = (types.Array, types.Map, types.Struct)


def check_files(
    node: Declares, point: Endpoint, columns: tuple[Field, ...], diagnostics: Diagnostics
) -> None:
    """Tell of columns that files of the source's format don't have."""
    format_ = point.option("format")
    if format_ == "text":
        if columns and [f.type for f in columns] != [types.STRING]:
            diagnostics.add(_not_text(node))
        return
    for field in columns:
        for name, why in refused_names(format_, (field,)):
            diagnostics.add(_no_such_name(node, field, name, why))
        nested = isinstance(field.type, _NESTED) and format_ == "csv"
        if nested or (field.type is types.VARIANT and format_ in ("csv", "orc", "avro")):
            diagnostics.add(_no_such_column(node, field, format_))


def _no_such_column(node: Declares, field: Field, format_: str | None) -> Diagnostic:
    column = next(c for c in node.columns if c.name.text == field.name)
    how = "parse_json" if field.type is types.VARIANT else "from_json"
    return Diagnostic(
        codes.SOURCE_COLUMNS,
        f"files of format `{format_}` have no column of type {field.type}",
        Label(column.span),
        help=f"declare `{field.name} STRING`, and compute another column with `{how}`",
    )


def _no_such_name(node: Declares, field: Field, name: str, why: str) -> Diagnostic:
    column = next(c for c in node.columns if c.name.text == field.name)
    return Diagnostic(
        codes.SOURCE_COLUMNS,
        f"a file has no column or field that is called `{name}`",
        Label(column.span, why),
        help="declare it as the files have it",
    )


def _not_text(node: Declares) -> Diagnostic:
    return Diagnostic(
        codes.SOURCE_COLUMNS,
        "a line of format `text` is one STRING column",
        Label(node.name.span, f"`{node.name}` declares others"),
        help="declare `line STRING`, and compute other columns from it",
    )
