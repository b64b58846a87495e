"""Aggregates whose result would depend on the order of arrival, in another order.

Spark's FIRST_VALUE, ARRAY_AGG and LISTAGG follow the order in which rows happen to be processed.
Here they follow the event time, or the order that is written; rows at one instant are ordered by
the value itself. So the result is the same however the rows arrive:

    FIRST_VALUE(x)            min_by(x, struct(ts, x))
    LAST_VALUE(x)             max_by(x, struct(ts, x))
    ARRAY_AGG(x)              transform(sort_array(collect_list(struct(ts, x))), r -> r.x)
    LISTAGG(x, ',')           listagg(x, ',') WITHIN GROUP (ORDER BY ts, x)
"""

from __future__ import annotations

from dataclasses import replace

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.aggregates import aggregate
from ...model.typed import Typed
from .typing import Context, FoundAggregate, typed

_BY_TIME = {"first_value": "min_by", "last_value": "max_by"}
_LISTS = frozenset({"array_agg", "listagg"})
ORDERED = frozenset({*_BY_TIME, *_LISTS})
"""The functions that need an order; COLLECT_LIST accepts one, and guarantees none without it."""


@dataclass(frozen=True, slots=True)
class _Order:
    """What rows are ordered by; ``condition`` must hold for a row to have a position."""

    keys: tuple[Typed, ...]
    descending: bool = False
    condition: e.Expression | None = None


def ordered(
    node: e.Call, resolved: e.Call, arguments: list[Typed], context: Context
) -> Typed | None:
    """Return the meaning of a call that has or needs an order; None after a report.

    ``resolved`` is the call under the function's canonical name, with its FILTER.
    """
    value = arguments[0]
    if node.distinct:
        return _distinct(node, resolved, value, context)
    order = _written_order(node, context) if node.order_by else _time_order(node, context)
    if order is None:
        return None
    if not t.is_open(value.type) and not t.is_orderable(value.type):
        context.report(_no_ties(node, value, context))
        return None
    resolved = _where(resolved, order.condition)
    match resolved.name.text:
        case "first_value" | "last_value":
            return _extreme(node, resolved, arguments, order, context)
        case "listagg":
            return _text(node, resolved, arguments, order, context)
    return _list(node, _where_known(resolved, value), value, order, context)


def _time_order(node: e.Call, context: Context) -> _Order | None:
    times = context.scope.event_times()
    if len(times) != 1:
        context.report(_no_order(node, times, context))
        return None
    time = times[0]
    known = e.IsTest(node.span, time.expression, "NULL", negated=True) if time.nullable else None
    return _Order((time,), condition=known)


def _written_order(node: e.Call, context: Context) -> _Order | None:
    first = node.order_by[0]
    for item in node.order_by:
        usual = "LAST" if item.descending else "FIRST"
        mixed = item.descending != first.descending or item.nulls not in (None, usual)
        if mixed and node.name.text.lower() not in ("listagg", "string_agg"):
            context.report(_mixed_order(node, item))
            return None
    inner = context.within(node)
    keys = tuple(typed(item.expression, inner) for item in node.order_by)
    return _Order(keys, first.descending)


def _extreme(
    node: e.Call, call: e.Call, arguments: list[Typed], order: _Order, context: Context
) -> Typed:
    value = arguments[0]
    skips = node.nulls == "IGNORE" or any(
        isinstance(a.expression, e.BooleanLiteral) and a.expression.value for a in arguments[1:]
    )
    if skips:
        call = _where_known(call, value)
    by = _together(node.span, (*order.keys, value))
    name = _BY_TIME[call.name.text]
    return _found(call, name, (value, by), context)


def _list(node: e.Call, call: e.Call, value: Typed, order: _Order, context: Context) -> Typed:
    span = node.span
    direction = (e.BooleanLiteral(span, False),) if order.descending else ()
    rows = _together(span, (*order.keys, value))
    collected = _found(call, "collect_list", (rows,), context)
    array = _call(span, "sort_array", collected.expression, *direction)
    type_ = t.Array(value.type)
    if rows.expression == value.expression:
        return Typed(array, type_, nullable=False)
    row = Name(span, "r")
    parts = _unique((*order.keys, value))
    place = [part.expression for part in parts].index(value.expression)
    part = e.ColumnRef(span, (row, Name(span, _names(parts)[place])))
    return Typed(
        _call(span, "transform", array, e.Lambda(span, (row,), part)), type_, nullable=False
    )


def _text(
    node: e.Call, call: e.Call, arguments: list[Typed], order: _Order, context: Context
) -> Typed:
    written = node.order_by or tuple(
        e.SortItem(node.span, k.expression, False, None) for k in order.keys
    )
    items = tuple(
        replace(item, expression=key.expression)
        for item, key in zip(written, order.keys, strict=True)
    )
    value = arguments[0].expression
    if all(item.expression != value for item in items):
        items = (*items, e.SortItem(node.span, value, items[-1].descending, None))
    return _found(replace(call, order_by=items), "listagg", tuple(arguments), context)


def _distinct(node: e.Call, call: e.Call, value: Typed, context: Context) -> Typed | None:
    """Return ARRAY_AGG(DISTINCT x), which is sorted by value."""
    if node.order_by:
        context.report(_order_of_distinct(node))
        return None
    collected = _found(call, "collect_set", (value,), context)
    array = _call(node.span, "sort_array", collected.expression)
    return Typed(array, t.Array(value.type), nullable=False)


def _found(call: e.Call, name: str, arguments: tuple[Typed, ...], context: Context) -> Typed:
    """Return a call of Spark's aggregate, and note it."""
    function = aggregate(name)
    assert function is not None
    inner = e.Call(
        call.span,
        Name(call.name.span, name),
        tuple(a.expression for a in arguments),
        order_by=call.order_by,
        filter=call.filter,
    )
    types = tuple(a.type for a in arguments)
    context.found.append(FoundAggregate(inner, function, types))
    return Typed(inner, function.result(types), function.nullable)


def _together(span: Span, parts: tuple[Typed, ...]) -> Typed:
    """Return values as one that is ordered by each in turn: itself, or a struct of several."""
    parts = _unique(parts)
    if len(parts) == 1:
        return parts[0]
    names = _names(parts)
    type_ = t.Struct(
        tuple(t.Field(name, part.type) for name, part in zip(names, parts, strict=True))
    )
    if names == _own_names(parts):
        return Typed(_call(span, "struct", *(p.expression for p in parts)), type_, nullable=False)
    named = (
        item
        for name, part in zip(names, parts, strict=True)
        for item in (e.StringLiteral(span, name), part.expression)
    )
    return Typed(_call(span, "named_struct", *named), type_, nullable=False)


def _unique(parts: tuple[Typed, ...]) -> tuple[Typed, ...]:
    return tuple({part.expression: part for part in parts}.values())


def _own_names(parts: tuple[Typed, ...]) -> list[str]:
    """Return the names that Spark gives the fields of ``struct(…)``."""
    return [
        part.expression.parts[-1].text
        if isinstance(part.expression, e.ColumnRef)
        else f"col{number}"
        for number, part in enumerate(parts, start=1)
    ]


def _names(parts: tuple[Typed, ...]) -> list[str]:
    own = _own_names(parts)
    if len({name.lower() for name in own}) == len(own):
        return own
    return [f"col{number}" for number in range(1, len(own) + 1)]


def _where_known(call: e.Call, value: Typed) -> e.Call:
    if not value.nullable:
        return call
    return _where(call, e.IsTest(call.span, value.expression, "NULL", negated=True))


def _where(call: e.Call, condition: e.Expression | None) -> e.Call:
    if condition is None:
        return call
    both = condition if call.filter is None else e.Binary(call.span, "AND", call.filter, condition)
    return replace(call, filter=both)


def _call(span: Span, name: str, *arguments: e.Expression) -> e.Call:
    return e.Call(span, Name(span, name), arguments)


def _no_order(node: e.Call, times: tuple[Typed, ...], context: Context) -> Diagnostic:
    name = node.name.text.upper()
    lists = node.name.text.lower() not in ("first", "last", "first_value", "last_value")
    value = context.text(node.arguments[0])
    by = sql(times[0].expression) if times else "n"
    if lists:
        help_ = f"write the order, as in `{context.text(node)} WITHIN GROUP (ORDER BY {by})`"
    else:
        other = "MIN_BY" if name.startswith("FIRST") else "MAX_BY"
        help_ = f"say how rows are ordered, as in `{other}({value}, {by})`"
    why = "there is no event time" if not times else "there are two event times"
    return Diagnostic(
        codes.AGGREGATE_ORDER,
        f"`{name}` uses the event time, and here {why}",
        Label(node.span, "the order of arrival is not an order"),
        help=help_,
    )


def _no_ties(node: e.Call, value: Typed, context: Context) -> Diagnostic:
    return Diagnostic(
        codes.AGGREGATE_ORDER,
        f"`{node.name.text.upper()}` orders rows of the same instant by their value, but a "
        f"{value.type} is not orderable",
        Label(node.arguments[0].span, str(value.type)),
        help="use `MIN_BY(x, ts)`, `MAX_BY(x, ts)` or `COLLECT_LIST(x)`, which do not break ties, "
        "or use a field of it",
    )


def _mixed_order(node: e.Call, item: e.SortItem) -> Diagnostic:
    return Diagnostic(
        codes.AGGREGATE_FORM,
        f"`{node.name.text.upper()}` is ordered in one direction, with NULLs first when ascending "
        "and last when descending",
        Label(item.span),
        help="order all keys in one direction, or sort by `ARRAY_SORT(…, (a, b) -> …)`",
    )


def _order_of_distinct(node: e.Call) -> Diagnostic:
    return Diagnostic(
        codes.AGGREGATE_FORM,
        "distinct values come out in their own order, so they take no ORDER BY",
        Label(node.order_by[0].span),
        help="remove ORDER BY, or DISTINCT",
    )
