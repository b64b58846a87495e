"""Interval joins: two sides, equal keys, a bound in time."""

from __future__ import annotations

from ...dsl import codes
from ...dsl.ast import expressions as e
from ...dsl.ast import queries as q
from ...dsl.diagnostics import Diagnostic, Label
from ..model import types
from ..model.schema import Schema
from ..model.steps import Join, JoinSide
from ..model.typed import Typed
from .chain import Chain, Known
from .expressions import Clause, check
from .not_built import not_built
from .scope import BlockScope, Visible
from .time_bounds import Bounds, analyse

_KINDS = {"INNER": "inner", "LEFT": "left"}
_CAN_BE_LATER = {"RIGHT": "swap the sides and use LEFT JOIN", "FULL": None}


def refuse_kind(node: q.Join) -> Diagnostic | None:
    """Return why a kind of join can't be had, or None for inner and left."""
    if node.kind in _KINDS:
        return None
    if node.kind in _CAN_BE_LATER:
        return not_built(f"{node.kind} JOIN of streams", node.span, _CAN_BE_LATER[node.kind])
    return Diagnostic(
        codes.JOIN_KEYS,
        "a CROSS JOIN of streams would have to keep all rows of both",
        Label(node.span),
        help="write `JOIN … ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR`",
    )


def add_join(
    node: q.Join,
    known: tuple[Known, Known],
    scope: BlockScope,
    chain: Chain,
    state_id: str,
) -> None:
    """Append the Join to the chain; the scope holds both sides, qualified by their aliases."""
    diagnostics = chain.context.diagnostics
    left, right = scope.relations
    if node.condition is None:
        diagnostics.add(_no_condition(node))
        return
    condition = check(node.condition, scope, Clause("ON", aggregates=False), diagnostics)
    if condition.type is types.UNKNOWN:
        return

    def is_time(expression: e.Expression) -> bool:
        field = scope.field(expression)
        return field is not None and field.watermark is not None

    bounds = analyse(condition.expression, left.alias, right.alias, is_time)
    _check_state(node, bounds, (left, right), chain)
    chain.add(
        Join(
            id=state_id,
            join=_KINDS[node.kind],
            left=_side(known[0], left, bounds.left_keys),
            right=_side(known[1], right, bounds.right_keys),
            condition=condition,
            lower=bounds.lower,
            upper=bounds.upper,
        ),
        Schema((*left.schema.fields, *right.schema.fields)),
    )


def _side(known: Known, visible: Visible, keys: tuple[e.Expression, ...]) -> JoinSide:
    times = visible.schema.event_times()
    return JoinSide(
        known.relation,
        visible.alias,
        visible.schema,
        tuple(Typed(k, types.UNKNOWN) for k in keys),
        times[0].name if times else None,
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
        f"a join of streams needs an event time on both sides, and `{side.alias}` has none",
        Label(node.span, "its state would never be dropped"),
        secondary=(Label(side.span, f"`{side.alias}` is declared here"),),
        help="add `WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE` to its source",
    )


def _no_condition(node: q.Join) -> Diagnostic:
    columns = f" (USING {', '.join(n.text for n in node.using)})" if node.using else ""
    return Diagnostic(
        codes.JOIN_KEYS,
        f"a join of streams is stated by ON{columns}",
        Label(node.span),
        help="write `ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR`",
    )


def _no_keys(node: q.Join, sides: tuple[Visible, Visible]) -> Diagnostic:
    left, right = sides
    return Diagnostic(
        codes.JOIN_KEYS,
        f"the condition has no equality between `{left.alias}` and `{right.alias}`",
        Label(node.condition.span if node.condition else node.span),
        help=f"add one that brings rows together, as in `{left.alias}.id = {right.alias}.id`",
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
        f"the state of this join would grow for ever: {missing}",
        Label(node.condition.span if node.condition else node.span),
        help=f"add `AND {b} BETWEEN {a} - INTERVAL 1 HOUR AND {a} + INTERVAL 1 HOUR`, or accept "
        f"it in an inner join: `CREATE STREAM {stream} WITH (unbounded = 'why') AS …`",
    )


def _empty_bound(node: q.Join) -> Diagnostic:
    return Diagnostic(
        codes.JOIN_BOUND,
        "no two rows can meet this bound: its lower end is after its upper end",
        Label(node.condition.span if node.condition else node.span),
        help="swap the ends of BETWEEN",
    )
