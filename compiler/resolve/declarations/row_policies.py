"""ON MALFORMED ROWS and ON FUTURE ROWS: what happens to rows that a source should not have."""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl.ast import expressions as e
from ....dsl.ast import statements as st
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ...connectors.registry import SOURCES
from ...model import types
from ...model.pipeline import FutureRows, Relation, Source, Watermark
from ...model.schema import Field, Schema
from ...model.steps import SideRows
from ...model.typed import Typed
from ..scopes.relation_builder import Known
from .durations import duration

MALFORMED = Schema(
    (
        Field("raw", types.STRING),
        Field("reason", types.STRING, nullable=False),
        Field("source", types.STRING, nullable=False),
        Field("position", types.STRING),
        Field("seen_at", types.TIMESTAMP, nullable=False),
    )
)
"""The columns of a side stream of malformed rows."""


def check_malformed(node: st.CreateSource, connector: str, diagnostics: Diagnostics) -> None:
    """Refuse a policy for the malformed rows of a connector that has none."""
    policy = node.malformed
    if policy is None or policy.action == "FAIL" or SOURCES[connector].may_be_malformed:
        return
    diagnostics.add(
        Diagnostic(
            codes.NO_MALFORMED_ROWS,
            f"no row of connector `{connector}` is malformed",
            Label(policy.span),
            help="leave out the policy",
        )
    )


def future_rows(
    node: st.CreateSource, watermark: Watermark | None, schema: Schema, diagnostics: Diagnostics
) -> FutureRows | None:
    """Return the policy for rows ahead of the clock; None if there is none, or after a report."""
    policy = node.future
    if policy is None:
        return None
    beyond = duration(policy.beyond, "the limit of future rows", diagnostics, zero=True)
    if watermark is None:
        if not node.watermarks:
            diagnostics.add(_no_event_time(node, policy, schema))
        return None
    if beyond is None:
        return None
    return FutureRows(
        beyond,
        _is_future(watermark.column, policy.beyond, negated=False),
        _is_future(watermark.column, policy.beyond, negated=True),
        policy.stream.text if policy.stream is not None else None,
    )


def side_streams(
    node: st.CreateSource, schema: Schema, source: Source | None
) -> Iterator[tuple[str, Known, Relation | None]]:
    """Yield the side streams of a source by name, with their schemas and relations.

    Their columns are known even for a source with errors.
    """
    if node.malformed is not None and (name := node.malformed.stream) is not None:
        step = SideRows("malformed", node.name.text, None)
        yield _side(name, node, MALFORMED, step if source is not None else None)
    if node.future is not None and (name := node.future.stream) is not None:
        # Its rows may not move the watermark, so it has none.
        fields = (Field(f.name, f.type, f.nullable, proctime=f.proctime) for f in schema)
        policy = source.future_rows if source is not None else None
        ahead = None
        if policy is not None:
            ahead = SideRows("future", node.name.text, Typed(policy.condition, types.BOOLEAN))
        yield _side(name, node, Schema(tuple(fields)), ahead)


def _side(
    name: Name, node: st.CreateSource, schema: Schema, step: SideRows | None
) -> tuple[str, Known, Relation | None]:
    known = Known(name.text, schema, changes=False, above_state=False, span=name.span)
    if step is None:
        return name.text, known, None
    relation = Relation(
        *(name.text, name.text, name.text, (node.name.text,), (step,), schema),
        changes=False,
        above_state=False,
        span=name.span,
    )
    return name.text, known, relation


def _is_future(column: str, beyond: e.Expression, *, negated: bool) -> e.Expression:
    """Return whether an event time is too far ahead; a row without one is not."""
    span = beyond.span
    time = e.ColumnRef(span, (Name(span, column),))
    now = e.Call(span, Name(span, "current_timestamp"), ())
    limit = e.Binary(span, "+", now, beyond)
    if not negated:
        return e.Binary(span, ">", time, limit)
    return e.Binary(
        span, "OR", e.IsTest(span, time, "NULL", False), e.Binary(span, "<=", time, limit)
    )


def _no_event_time(node: st.CreateSource, policy: st.FutureRows, schema: Schema) -> Diagnostic:
    times = [f.name for f in schema if f.type in (types.TIMESTAMP, types.TIMESTAMP_NTZ)]
    name = next((t for t in times), "ts")
    return Diagnostic(
        codes.NO_FUTURE_ROWS,
        f"future rows are detected by their event time, but `{node.name}` has none",
        Label(Span(policy.span.start, policy.beyond.span.start)),
        help=f"add `WATERMARK FOR {name} AS {name} - INTERVAL 1 MINUTE` to the source",
    )
