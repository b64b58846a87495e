"""Aggregates that need all values at once, as expressions over the list of known ones.

    COUNT(DISTINCT x)       size(array_distinct(values))
    ARRAY_AGG(x)            values
    MEDIAN(x)               the middle of array_sort(values)

The list has the values of a frame, or is a cell to which each row adds. Distinct values are in a
set there.
"""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ...model import types as t
from . import builders as parts

SETS = frozenset({"collect_set", "count_distinct", "approx_count_distinct"})
QUANTILES = frozenset({"percentile", "median", "approx_percentile"})
LISTS = frozenset({"collect_list", "listagg", "mode"}) | QUANTILES

_SORTED = "v"


def of_set(function: str, values: e.Expression) -> e.Expression:
    """Return an aggregate of ``SETS`` over distinct values, in order."""
    if function == "collect_set":
        return values
    return parts.cast(parts.call(values.span, "size", values), t.BIGINT)


def distinct(function: str, values: e.Expression) -> e.Expression:
    """Return an aggregate of ``SETS`` over a list of values."""
    once = parts.call(values.span, "array_distinct", values)
    if function == "collect_set":
        once = parts.call(values.span, "array_sort", once)
    return of_set(function, once)


def of_list(
    function: str, values: e.Expression, constants: tuple[e.Expression, ...], type_: t.Type
) -> e.Expression:
    """Return an aggregate of ``LISTS`` over a list of values in the order of rows.

    ``constants`` are its other arguments, ``type_`` is that of its result.
    """
    span = values.span
    match function:
        case "collect_list":
            return values
        case "listagg":
            text = parts.call(span, "array_join", values, *(constants or (parts.text(span, ""),)))
            size = parts.call(span, "size", values)
            is_any = e.Binary(span, ">", size, parts.number(span, 0))
            return e.Case(span, None, (e.When(span, is_any, text),), None)
        case "mode":
            return _mode(values)
    shares = constants[0] if constants else e.NumberLiteral(span, "0.5")
    if isinstance(shares, e.NumberLiteral) and shares.text[-1].isdigit():
        return _at_share(function, values, e.NumberLiteral(span, f"{shares.text}D"))
    if not isinstance(type_, t.Array):
        return _at_share(function, values, parts.cast(shares, t.DOUBLE))
    share = e.ColumnRef(span, (Name(span, "share"),))
    body = e.Lambda(span, share.parts, _at_share(function, values, parts.cast(share, t.DOUBLE)))
    quantiles = parts.call(span, "transform", shares, body)
    size = parts.call(span, "size", values)
    is_any = e.Binary(span, ">", size, parts.number(span, 0))
    return e.Case(span, None, (e.When(span, is_any, quantiles),), None)


def _mode(values: e.Expression) -> e.Expression:
    """Return the most frequent value; the least one of several."""
    span = values.span
    one, other = (e.ColumnRef(span, (Name(span, name),)) for name in ("v", "w"))
    same = parts.call(
        *(span, "filter", values),
        e.Lambda(span, other.parts, e.Binary(span, "=", other, one)),
    )
    rarity = e.Unary(span, "-", parts.call(span, "size", same))
    named = (parts.text(span, "rarity"), rarity, parts.text(span, "value"), one)
    counted = e.Lambda(span, one.parts, parts.call(span, "named_struct", *named))
    once = parts.call(span, "array_distinct", values)
    best = parts.call(span, "array_min", parts.call(span, "transform", once, counted))
    return e.FieldAccess(span, best, Name(span, "value"))


def _at_share(function: str, values: e.Expression, share: e.Expression) -> e.Expression:
    """Return a quantile; NULL for no values."""
    span = values.span
    sorted_ = e.ColumnRef(span, (Name(span, _SORTED),))
    body = _nearest(sorted_, share) if function == "approx_percentile" else _between(sorted_, share)
    # An array of one sorted array: it is computed once though the body reads it repeatedly.
    once = parts.call(span, "array", parts.call(span, "array_sort", values))
    found = parts.call(span, "transform", once, e.Lambda(span, sorted_.parts, body))
    return parts.call(span, "get", found, parts.number(span, 0))


def _nearest(sorted_: e.Expression, share: e.Expression) -> e.Expression:
    """Return the least value such that at least this share of all is not greater."""
    span = sorted_.span
    rank = parts.call(span, "ceil", _times(share, parts.call(span, "size", sorted_)))
    place = e.Binary(
        *(span, "-", parts.call(span, "greatest", rank, parts.number(span, 1))),
        parts.number(span, 1),
    )
    return parts.call(span, "get", sorted_, parts.cast(place, t.INT))


def _between(sorted_: e.Expression, share: e.Expression) -> e.Expression:
    """Return the interpolated value at a share of the sorted values, a DOUBLE."""
    span = sorted_.span
    last = e.Binary(span, "-", parts.call(span, "size", sorted_), parts.number(span, 1))
    place = _times(share, last)
    below = _at(sorted_, parts.call(span, "floor", place))
    above = _at(sorted_, parts.call(span, "ceil", place))
    rest = e.Binary(span, "-", place, parts.call(span, "floor", place))
    # Spark's own two weights: equal values give exactly that value.
    weight = e.Binary(span, "-", parts.call(span, "ceil", place), place)
    sum_ = e.Binary(span, "+", _times(weight, below), _times(rest, above))
    same = e.When(span, e.Binary(span, "=", below, above), below)
    return e.Case(span, None, (same,), sum_)


def _at(sorted_: e.Expression, place: e.Expression) -> e.Expression:
    value = parts.call(sorted_.span, "get", sorted_, parts.cast(place, t.INT))
    return parts.cast(value, t.DOUBLE)


def _times(one: e.Expression, other: e.Expression) -> e.Expression:
    return e.Binary(one.span, "*", one, other)
