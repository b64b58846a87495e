"""CREATE SOURCE: columns, watermark, row policies, connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.suggest import closest
from ...connectors.registry import SOURCES
from ...model import types
from ...model.pipeline import MalformedRows, Source, Watermark
from ...model.schema import Duration, Schema
from .durations import duration
from .options import endpoint
from .row_policies import check_malformed, future_rows
from .source_columns import computed_columns, metadata_columns, read_columns


def resolve_source(
    node: st.CreateSource, variables: Mapping[str, str | None], diagnostics: Diagnostics
) -> tuple[Schema, Source | None]:
    """Return the source's schema (for its readers) and the source, None if it has errors."""
    before = len(diagnostics)
    point = endpoint(node.options, node.name, SOURCES, variables, diagnostics)
    physical = read_columns(node, diagnostics)
    metadata = metadata_columns(node, point.connector if point else None, diagnostics)
    read = physical + tuple(column.field for column in metadata)
    computed = computed_columns(node, Schema(read), diagnostics)
    fields = read + tuple(field for _, field in computed)
    watermark = _watermark(node, Schema(fields), diagnostics)
    future = future_rows(node, watermark, Schema(fields), diagnostics)
    if watermark is not None:
        fields = tuple(
            replace(f, watermark=watermark.delay) if f.name == watermark.column else f
            for f in fields
        )
    if point is not None:
        check_malformed(node, point.connector, diagnostics)
        diagnostics.extend(SOURCES[point.connector].check_columns(node, point, physical))
    schema = Schema(fields)
    if point is None or len(diagnostics) > before:
        return schema, None
    return schema, Source(
        node.name.text,
        point,
        physical,
        metadata,
        tuple(column for column, _ in computed),
        watermark,
        _malformed(node),
        future,
        schema,
        node.name.span,
    )


def _malformed(node: st.CreateSource) -> MalformedRows:
    policy = node.malformed
    if policy is None:
        return MalformedRows("fail")
    to = policy.stream.text if policy.stream is not None else None
    return MalformedRows(policy.action.lower(), to)


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
                help="keep the one of the event time that windows and joins use",
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
                f"`{field.name}` is {field.type}, but an event time is a TIMESTAMP",
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
                help=(
                    "leave out the watermark, or declare it on a column with the time of the event"
                ),
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
