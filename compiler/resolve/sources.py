"""CREATE SOURCE: columns, watermark, row policies, connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...dsl import codes
from ...dsl.ast import expressions as e
from ...dsl.ast import statements as st
from ...dsl.diagnostics import Diagnostic, Diagnostics, Label
from ...dsl.suggest import closest
from ..model import connectors, types
from ..model.pipeline import Source, Watermark
from ..model.schema import Duration, Field, Schema
from .durations import duration
from .kafka import check_messages
from .not_built import not_built
from .options import endpoint
from .source_columns import computed_columns, read_columns


def resolve_source(
    node: st.CreateSource, variables: Mapping[str, str | None], diagnostics: Diagnostics
) -> tuple[Schema, Source | None]:
    """Return the source's schema (for what reads it) and the source, None if it has errors."""
    before = len(diagnostics)
    _refuse_unbuilt(node, diagnostics)
    physical = read_columns(node, diagnostics)
    computed = computed_columns(node, Schema(physical), diagnostics)
    fields = physical + tuple(field for _, field in computed)
    watermark = _watermark(node, Schema(fields), diagnostics)
    if watermark is not None:
        fields = tuple(
            replace(f, watermark=watermark.delay) if f.name == watermark.column else f
            for f in fields
        )
    point = endpoint(
        node.options,
        node.name,
        connectors.SOURCES,
        connectors.NOT_BUILT_SOURCES,
        variables,
        diagnostics,
    )
    if point is not None and point.connector == "rate":
        _check_rate_columns(node, physical, diagnostics)
    if point is not None and point.connector == "kafka":
        check_messages(node, point, physical, diagnostics)
    schema = Schema(fields)
    if point is None or len(diagnostics) > before:
        return schema, None
    return schema, Source(
        node.name.text,
        point,
        physical,
        tuple(column for column, _ in computed),
        watermark,
        schema,
        node.name.span,
    )


def _refuse_unbuilt(node: st.CreateSource, diagnostics: Diagnostics) -> None:
    if node.malformed is not None and node.malformed.action != "FAIL":
        feature = f"ON MALFORMED ROWS {node.malformed.action}"
        diagnostics.add(
            not_built(feature, node.malformed.span, "leave it out: a malformed row fails the query")
        )
    if node.future is not None:
        diagnostics.add(not_built("ON FUTURE ROWS", node.future.span, "leave it out"))


def _watermark(node: st.CreateSource, schema: Schema, diagnostics: Diagnostics) -> Watermark | None:
    if not node.watermarks:
        return None
    first, *more = node.watermarks
    for extra in more:
        diagnostics.add(
            Diagnostic(
                codes.WATERMARK_FORM,
                f"`{node.name}` has two watermarks",
                Label(extra.span),
                secondary=(Label(first.span, "the first"),),
                help="keep the one of the event time that windows and joins stand on",
            )
        )
    field = schema.find(first.column.text)
    if field is None:
        near = closest(first.column.text, schema.names())
        diagnostics.add(
            Diagnostic(
                codes.UNKNOWN_COLUMN,
                f"there is no column `{first.column}` in `{node.name}`",
                Label(first.column.span),
                help=f"did you mean `{near[0]}`?" if near else "declare it as a TIMESTAMP column",
            )
        )
        return None
    if field.type not in (types.TIMESTAMP, types.TIMESTAMP_NTZ, types.UNKNOWN):
        diagnostics.add(
            Diagnostic(
                codes.WATERMARK_FORM,
                f"`{field.name}` is {field.type}, an event time is a TIMESTAMP",
                Label(first.column.span),
                help=f"add a computed column, as in `at AS CAST({field.name} AS TIMESTAMP)`",
            )
        )
        return None
    if field.proctime:
        diagnostics.add(
            Diagnostic(
                codes.WATERMARK_FORM,
                f"`{field.name}` is the processing time, which is never late",
                Label(first.span),
                help="leave the watermark out, or give it to a column with the time of the event",
            )
        )
        return None
    delay = _delay(first, diagnostics)
    return Watermark(field.name, delay) if delay is not None else None


def _delay(node: st.Watermark, diagnostics: Diagnostics) -> Duration | None:
    if _is_column(node.expression, node.column.text):
        return Duration(0, "0 seconds")
    match node.expression:
        case e.Binary(_, "-", left, e.Interval() as interval) if _is_column(left, node.column.text):
            return duration(interval, "the delay of a watermark", diagnostics, zero=True)
    diagnostics.add(
        Diagnostic(
            codes.WATERMARK_FORM,
            "a watermark is its column minus an interval",
            Label(node.expression.span),
            help=f"write `WATERMARK FOR {node.column} AS {node.column} - INTERVAL 30 SECONDS`",
        )
    )
    return None


def _is_column(expression: e.Expression, name: str) -> bool:
    return (
        isinstance(expression, e.ColumnRef)
        and len(expression.parts) == 1
        and expression.parts[0].text.lower() == name.lower()
    )


def _check_rate_columns(
    node: st.CreateSource, physical: tuple[Field, ...], diagnostics: Diagnostics
) -> None:
    for field in physical:
        wanted = connectors.RATE_COLUMNS.get(field.name)
        if wanted is None or wanted != str(field.type):
            column = next(c for c in node.columns if c.name.text == field.name)
            diagnostics.add(
                Diagnostic(
                    codes.SOURCE_COLUMNS,
                    f"a rate source has no column `{field.name} {field.type}`",
                    Label(column.span),
                    help="it gives `timestamp TIMESTAMP` and `value BIGINT`; compute others, "
                    f"as in `{field.name} AS value % 10`",
                )
            )
