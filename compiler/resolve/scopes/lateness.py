"""Unreliable event times, of rows far behind the watermark.

A watermark says that rows with an earlier event time are no longer expected, and steps that use the
event time drop them. That is meant for rows delayed in transit. But some steps emit rows that were
not delayed and yet are behind the watermark:

- a join without a bound in time emits a pair when the second row arrives, however old the first is;
- so does a window join within its window, which its pairs may use instead;
- a timer of an operator may be set for an instant in the past.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.source import Span
from ...model.intervals import interval_micros
from ...model.programs import Handler, Operator, StartTimer, statements
from ...model.reads import InstantRef
from ...model.schema import Behind, Field, Schema
from ...model.steps import (
    WINDOW_STRUCTS,
    Aggregate,
    AssignWindow,
    Deduplicate,
    Join,
    JoinSide,
    Step,
    TopN,
)

_WORDS = {
    AssignWindow: "a window",
    Aggregate: "an aggregate",
    Deduplicate: "DISTINCT ON",
    Join: "a join",
    TopN: "a top-N",
}


def check_lateness(step: Step, schema: Schema, span: Span) -> Diagnostic | None:
    """Return why a step would drop rows that were not delayed; None if it would not.

    ``schema`` are the columns that it reads.
    """
    field = next((f for f in _goes_by(step, schema) if f is not None and f.behind), None)
    if field is None or field.behind is None or field.watermark is None:
        return None
    what = f"`{step.id}`" if isinstance(step, Operator) else _WORDS[type(step)]
    return Diagnostic(
        codes.UNBOUNDED_LATENESS,
        f"{what} goes by `{field.name}`, which may be far behind the watermark: {field.behind.why}",
        Label(span, "would drop these rows as late"),
        secondary=(Label(field.behind.span, "they come from here"),),
        help=field.behind.fix,
    )


def _goes_by(step: Step, schema: Schema) -> Iterator[Field | None]:
    """Yield the event times that a step uses to determine late rows."""
    match step:
        case AssignWindow(window):
            yield _column(window.column.expression, schema)
        case Aggregate(window=window, keys=keys, changes=changes):
            if window is not None:
                yield _column(window.column.expression, schema)
            if not changes:
                for key in keys:
                    yield _column(key.value.expression, schema)
        case Deduplicate():
            yield from schema.event_times()
        case TopN(time=time):
            yield schema.find(time)
        case Join(left=left, right=right):
            for side in (left, right):
                yield side.schema.find(side.event_time) if side.event_time is not None else None
        case Operator(inputs=inputs) if not takes_late_rows(step):
            for given in inputs:
                if given.event_time is not None:
                    yield given.schema.find(given.event_time)


def takes_late_rows(operator: Operator) -> bool:
    """Return whether an operator handles each row on arrival, however late."""
    return operator.declared and not operator.ordered


def _column(expression: e.Expression, schema: Schema) -> Field | None:
    """Return the column that an expression is; a part of a window is not one."""
    if not isinstance(expression, e.ColumnRef):
        return None
    names = [part.text for part in expression.parts]
    return None if set(names) & set(WINDOW_STRUCTS) else schema.find(names[-1])


def behind_join(join: Join, schema: Schema, span: Span) -> Schema:
    """Return the columns of a join, noting how its event times relate to the watermark."""
    if join.left.window is not None:
        behind = Behind(
            "a pair comes when the second row of a window does, and the first may be as old as "
            "the window",
            f"go by the window: select `{join.left.alias}.window_time` and use that",
            span,
        )
    elif join.lower is None or join.upper is None:
        behind = Behind(
            "the join has no time bound, and outputs a pair when its second row arrives, however "
            "old the first is",
            f"{_bound(join)}; or aggregate the sides before they are joined; or do both in a "
            "CREATE OPERATOR on the two inputs, which without ORDER BY drops no row; or let a "
            "sink take the pairs as they are",
            span,
        )
    else:
        return schema
    fields = (f if f.watermark is None else replace(f, behind=behind) for f in schema)
    return Schema(tuple(fields))


def _bound(join: Join) -> str:
    left, right = _time(join.left), _time(join.right)
    if left is None or right is None:
        return "bound the join: with a watermark on both sides, `b.ts BETWEEN a.ts AND a.ts + …`"
    return f"bound the join, as in `AND {right} BETWEEN {left} AND {left} + INTERVAL 1 HOUR`"


def _time(side: JoinSide) -> str | None:
    return None if side.event_time is None else f"{side.alias}.{side.event_time}"


def behind_timers(operator: Operator, names: set[str]) -> Behind | None:
    """Return why rows may be far behind if one of these timers may be set for the past."""
    for handler in operator.handlers:
        for one in statements(handler.body):
            if not isinstance(one, StartTimer) or one.timer not in names:
                continue
            if not _is_ahead(operator, handler, one.at.expression):
                time = _own_time(operator, handler) or "the event time of the row"
                return Behind(
                    f"timer `{one.timer}` may be set for an instant in the past, and fires anyway",
                    f"set it no earlier than the row being processed: `START TIMER {one.timer} AT "
                    f"GREATEST(…, {time})`",
                    one.at.expression.span,
                )
    return None


def _is_ahead(operator: Operator, handler: Handler, at: e.Expression) -> bool:
    """Return whether an instant is never before the current row or timer."""
    match at:
        case e.Binary(_, "+", inner, e.Interval() as length) | e.Binary(
            _, "+", e.Interval() as length, inner
        ):
            micros = interval_micros(length)
            return (micros is None or micros >= 0) and _is_ahead(operator, handler, inner)
        case e.Call(_, name, arguments) if name.text.lower() == "greatest":
            return any(_is_ahead(operator, handler, one) for one in arguments)
        case e.ColumnRef(parts=parts):
            if handler.is_timer:
                return isinstance(at, InstantRef) and len(parts) == 1
            own = _own_time(operator, handler)
            return own is not None and [part.text for part in parts] in (
                [own],
                [handler.name, own],
            )
    return False


def _own_time(operator: Operator, handler: Handler) -> str | None:
    """Return the event time of a handler's rows, or the name of its timer."""
    if handler.is_timer:
        return handler.name
    return next(one.event_time for one in operator.inputs if one.alias == handler.name)
