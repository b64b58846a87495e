"""Joins of streams: two sides, equal keys, a bound in time or equal windows."""

from __future__ import annotations

from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types
from ...model.schema import Schema
from ...model.steps import WINDOW_STRUCTS, Join, JoinSide
from ...model.typed import Typed
from ..expressions.resolve import Clause, check
from ..scopes.lateness import behind_join
from ..scopes.relation_builder import Chain, Known
from ..scopes.scope import BlockScope, Visible
from .lost_times import time_help
from .time_bounds import Bounds, analyse
from .window_joins import join_windows, no_window, window_field

_KINDS = ("INNER", "LEFT", "RIGHT", "FULL")


def refuse_kind(node: q.Join) -> Diagnostic | None:
    """Return why a kind of join is refused, or None."""
    if node.kind in _KINDS:
        return None
    return Diagnostic(
        codes.JOIN_KEYS,
        "a CROSS JOIN of streams would have to keep all rows of both sides",
        Label(node.span),
        help="write `JOIN … ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR`",
    )


def add_join(
    node: q.Join,
    known: tuple[Known, Known],
    scope: BlockScope,
    chain: Chain,
    state_id: str,
) -> Join | None:
    """Append the Join to the chain; the scope holds both sides, qualified by their aliases.

    Returns it, or None after a report.
    """
    diagnostics = chain.context.diagnostics
    left, right = scope.relations
    if node.condition is None:
        diagnostics.add(_no_condition(node))
        return None
    condition = check(node.condition, scope, Clause("ON", aggregates=False), diagnostics)
    if condition.type is types.UNKNOWN:
        return None

    if left.window is not None:
        merged = join_windows(condition.expression, left, right)
        if merged is None:
            diagnostics.add(no_window(node, left, right))
            return None
        condition = replace(condition, expression=merged)

    def is_time(expression: e.Expression) -> bool:
        field = scope.field(expression)
        return field is not None and field.watermark is not None

    bounds = analyse(condition.expression, left.alias, right.alias, is_time)
    if node.kind == "FULL":
        condition = _known_keys(condition, bounds, known)
    if left.window is None:
        _check_state(node, bounds, (left, right), chain)
    join = Join(
        id=state_id,
        join=node.kind.lower(),
        left=_side(known[0], left, bounds.left_keys, kept=node.kind in ("LEFT", "FULL")),
        right=_side(known[1], right, bounds.right_keys, kept=node.kind in ("RIGHT", "FULL")),
        condition=condition,
        lower=bounds.lower,
        upper=bounds.upper,
    )
    joined = Schema((*left.schema.fields, *right.schema.fields))
    chain.add(join, behind_join(join, joined, node.span))
    return join


def _known_keys(condition: Typed, bounds: Bounds, known: tuple[Known, Known]) -> Typed:
    """Return the condition of a FULL JOIN such that NULL keys do not match.

    In all other joins Spark drops the rows of one side whose key is NULL before they are joined. In
    a full join it drops none, and then treats NULL keys as equal.
    """
    expression = condition.expression
    for left, right in zip(bounds.left_keys, bounds.right_keys, strict=True):
        if _may_be_null(left, known[0]) and _may_be_null(right, known[1]):
            is_known = e.IsTest(left.span, left, "NULL", negated=True)
            expression = e.Binary(expression.span, "AND", expression, is_known)
    return replace(condition, expression=expression)


def _may_be_null(key: e.Expression, side: Known) -> bool:
    """Return whether a key may be NULL in a row of its relation; a window never is."""
    if not isinstance(key, e.ColumnRef) or len(key.parts) != 2:
        return True
    name = key.parts[1].text
    field = side.schema.find(name)
    return field.nullable if field is not None else name not in WINDOW_STRUCTS


def _side(
    known: Known, visible: Visible, keys: tuple[e.Expression, ...], *, kept: bool
) -> JoinSide:
    """Return a side of the join; ``kept`` says that its rows are emitted even without a partner."""
    times = visible.schema.event_times()
    time = known.schema.find(times[0].name) if times else None
    schema = visible.schema
    if visible.window is not None:
        schema = Schema((*schema.fields, window_field(visible.window)))
    return JoinSide(
        known.relation,
        visible.alias,
        schema,
        tuple(Typed(k, types.UNKNOWN) for k in keys),
        times[0].name if times else None,
        visible.window,
        may_lack_time=kept and visible.window is None and time is not None and time.nullable,
    )


def _check_state(
    node: q.Join, bounds: Bounds, sides: tuple[Visible, Visible], chain: Chain
) -> None:
    diagnostics = chain.context.diagnostics
    if not bounds.left_keys:
        diagnostics.add(_no_keys(node, sides))
    accepted = chain.context.unbounded and node.kind == "INNER"
    for side in sides:
        if not side.schema.event_times() and not accepted:
            diagnostics.add(_no_event_time(node, side))
            return
    if (bounds.lower is None or bounds.upper is None) and not accepted:
        diagnostics.add(_no_bound(node, bounds, sides, chain.context.stream))
    elif bounds.lower is not None and bounds.upper is not None and bounds.lower > bounds.upper:
        diagnostics.add(_empty_bound(node))


def _no_event_time(node: q.Join, side: Visible) -> Diagnostic:
    return Diagnostic(
        codes.MISSING_WATERMARK,
        f"a join of streams needs an event time on both sides, but `{side.alias}` has none",
        Label(node.span, "its state would never be dropped"),
        secondary=(Label(side.span, f"`{side.alias}` is declared here"),),
        help=time_help(side.schema),
    )


def _no_condition(node: q.Join) -> Diagnostic:
    columns = f" (USING {', '.join(n.text for n in node.using)})" if node.using else ""
    return Diagnostic(
        codes.JOIN_KEYS,
        f"a join of streams needs ON{columns}",
        Label(node.span),
        help="write `ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR`",
    )


def _no_keys(node: q.Join, sides: tuple[Visible, Visible]) -> Diagnostic:
    left, right = sides
    return Diagnostic(
        codes.JOIN_KEYS,
        f"the condition has no equality between `{left.alias}` and `{right.alias}`",
        Label(node.condition.span if node.condition else node.span),
        help=f"add one that matches rows, as in `{left.alias}.id = {right.alias}.id`",
    )


def _no_bound(
    node: q.Join, bounds: Bounds, sides: tuple[Visible, Visible], stream: str
) -> Diagnostic:
    left, right = sides
    a = f"{left.alias}.{left.schema.event_times()[0].name}"
    b = f"{right.alias}.{right.schema.event_times()[0].name}"
    if bounds.lower is None and bounds.upper is None:
        missing = f"nothing bounds `{b}` against `{a}`"
    else:
        side = "before" if bounds.lower is None else "after"
        missing = f"nothing bounds how long {side} `{a}` its partner `{b}` may be"
    return Diagnostic(
        codes.JOIN_BOUND,
        f"the state of this join would grow forever: {missing}",
        Label(node.condition.span if node.condition else node.span),
        help=f"add `AND {b} BETWEEN {a} - INTERVAL 1 HOUR AND {a} + INTERVAL 1 HOUR`, or accept "
        f"it in an inner join: `CREATE STREAM {stream} WITH (unbounded = 'why') AS …`",
    )


def _empty_bound(node: q.Join) -> Diagnostic:
    return Diagnostic(
        codes.JOIN_BOUND,
        "no two rows can satisfy this bound: its lower end is after its upper end",
        Label(node.condition.span if node.condition else node.span),
        help="swap the ends of BETWEEN",
    )
