"""The clauses EMIT EARLY and ALLOWED LATENESS: which panes a window emits, if it can."""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ...model.programs import Panes
from ...model.schema import Duration
from ...model.steps import Aggregate, Window
from ..declarations.durations import duration
from ..scopes.scope import PaneRef


def asks_for_panes(select: q.Select) -> bool:
    """Return whether a SELECT asks for more than a window's final result."""
    is_early = select.emit is not None and select.emit.kind == "EARLY"
    return is_early or select.allowed_lateness is not None


def resolve_panes(
    select: q.Select, window: Window | None, beside: str | None, diagnostics: Diagnostics
) -> Panes | None:
    """Return the panes of an aggregate, or None after reporting why its window has none.

    ``beside`` is another clause of the SELECT, with which panes can't be combined.
    """
    early, lateness = _lengths(select, diagnostics)
    span = select.relation.span
    if select.emit is not None and select.emit.kind == "CHANGES":
        diagnostics.add(_changes(select.emit.span))
    elif window is None:
        diagnostics.add(_no_window(_clause(select)))
    elif window.kind == "session":
        diagnostics.add(_session(span, _clause(select)))
    elif beside is not None:
        diagnostics.add(_beside(_clause(select), beside))
    elif window.processing and select.allowed_lateness is not None:
        diagnostics.add(_never_late(select.allowed_lateness.span))
    elif early is not None or lateness is not None:
        return Panes(window, early, lateness)
    return None


def _lengths(select: q.Select, diagnostics: Diagnostics) -> tuple[Duration | None, Duration | None]:
    every = select.emit.every if select.emit is not None else None
    early = lateness = None
    if every is not None:
        early = duration(every, "the time between early panes", diagnostics)
    if select.allowed_lateness is not None:
        lateness = duration(select.allowed_lateness, "the allowed lateness", diagnostics)
    return early, lateness


def _clause(select: q.Select) -> Span:
    if select.allowed_lateness is not None:
        return select.allowed_lateness.span
    assert select.emit is not None
    return select.emit.span


def misplaced_pane(step: Aggregate) -> Iterator[Diagnostic]:
    """Yield the reads of ``pane`` where it is not yet known: in keys and in aggregates."""
    values = (*(key.value for key in step.keys), *(column.value for column in step.columns))
    for value in values:
        for node in walk(value.expression):
            if isinstance(node, PaneRef):
                yield _misplaced(node)


def lateness_without_aggregate(node: e.Expression) -> Diagnostic:
    """Return the diagnostic for ALLOWED LATENESS where no window is aggregated."""
    return Diagnostic(
        codes.EMIT_FORM,
        "ALLOWED LATENESS needs an aggregated window, but here is none",
        Label(node.span),
        help="leave it out; WATERMARK says how late rows may arrive",
    )


def _changes(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.EMIT_FORM,
        "EMIT CHANGES has no panes that rows could be late for",
        Label(span),
        help="write `EMIT EARLY EVERY INTERVAL 1 MINUTE` instead, or leave out ALLOWED LATENESS",
    )


def _no_window(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.EMIT_FORM,
        "panes are parts of a window, but this SELECT opens none",
        Label(span),
        help="open one in FROM, as in `FROM TUMBLE(t, ts, INTERVAL 1 HOUR)`",
    )


def _session(relation: Span, span: Span) -> Diagnostic:
    return Diagnostic(
        codes.EMIT_FORM,
        "a session has no panes: it may merge with another whose panes have already come out",
        Label(span),
        secondary=(Label(relation, "known only when it closes"),),
        help="use TUMBLE, HOP or CUMULATE; or use a longer watermark delay for late rows",
    )


def _beside(span: Span, what: str) -> Diagnostic:
    return Diagnostic(
        codes.EMIT_FORM,
        f"a window with panes can't be combined with {what} in one SELECT",
        Label(span),
        help="QUALIFY ranks closed windows: leave out the panes"
        if what == "QUALIFY"
        else "put the join in a separate stream, and open the window on that",
    )


def _never_late(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.EMIT_FORM,
        "no row can be late for a window over the processing time",
        Label(span),
        help="leave out ALLOWED LATENESS, or open the window over an event time",
    )


def _misplaced(node: PaneRef) -> Diagnostic:
    return Diagnostic(
        codes.NOT_GROUPED,
        "`pane` is known when a row comes out, not before",
        Label(node.span),
        help="select it unchanged, or test it in HAVING",
    )
