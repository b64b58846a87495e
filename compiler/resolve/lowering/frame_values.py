"""Aggregates over the rows of a frame, as expressions over their list.

    SUM(x)        aggregate(rows, CAST(NULL AS BIGINT), (so_far, row) -> coalesce(…))
    MAX(x)        array_max(transform(rows, row -> row.x))
    VAR_POP(x)    aggregate(rows, named_struct('m2', …), (so_far, row) -> …, so_far -> …)

Rows are structs in the order in which they were handled.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.typed import Typed
from . import builders as parts
from . import folds, value_lists
from .frames import EXTREMES, ROW, RowsCall, added, lowered, mean_of, total_type


def over_rows(call: RowsCall, rows: e.Expression, field: str | None) -> Typed:
    """Return an aggregate over the rows of a frame, which is never empty.

    ``field`` is the field of a row that holds its argument.
    """
    given = None if field is None else _lambda_column(call.span, field)
    return Typed(_over(call, rows, given), call.type, call.nullable)


def _over(call: RowsCall, rows: e.Expression, given: e.Expression | None) -> e.Expression:
    if call.lower is not None:
        found = {one.native: _over(one.call, rows, one.of(given)) for one in call.parts}
        return lowered(call.lower, found)
    span = call.span
    if given is None:
        return parts.cast(parts.call(span, "size", rows), t.BIGINT)
    known = parts.call(span, "filter", rows, _of_row(span, parts.is_known(given)))
    match call.function:
        case "count":
            return parts.cast(parts.call(span, "size", known), t.BIGINT)
        case "sum":
            return _sum(call, rows, given)
        case "avg":
            count = parts.call(span, "size", known)
            return mean_of(call, _sum(call, rows, given), count)
        case "min" | "bool_and" | "max" | "bool_or" as extreme:
            values = parts.call(span, "transform", rows, _of_row(span, given))
            return parts.call(span, f"array_{EXTREMES[extreme]}", values)
        case "first_value" | "last_value" | "nth_value":
            return _at_place(call, rows, known, given)
    if call.function in folds.FOLDED:
        return _folded(call, rows, given)
    values = parts.call(span, "transform", known, _of_row(span, given))
    if call.function in value_lists.SETS:
        return value_lists.distinct(call.function, values)
    return value_lists.of_list(call.function, values, call.constants, call.type)


def _at_place(
    call: RowsCall, rows: e.Expression, known: e.Expression, given: e.Expression
) -> e.Expression:
    """Return FIRST_VALUE, LAST_VALUE or NTH_VALUE."""
    span, of = call.span, known if call.skips else rows
    row: e.Expression
    match call.function:
        case "first_value":
            first = parts.call(span, "get", known, parts.number(span, 0))
            row = first if call.skips else e.Index(span, rows, parts.number(span, 0))
        case "nth_value":
            row = parts.call(span, "get", of, parts.number(span, call.place - 1))
        case _:
            last = e.Unary(span, "-", parts.number(span, 1))
            name = "try_element_at" if call.skips else "element_at"
            row = parts.call(span, name, of, last)
    assert isinstance(given, e.ColumnRef)
    for field in given.parts[1:]:
        row = e.FieldAccess(span, row, field)
    return row


def _folded(call: RowsCall, rows: e.Expression, given: e.Expression) -> e.Expression:
    """Return an aggregate that holds some values, folded over the rows that count."""
    span = call.span
    found = folds.fold(call.function, call.given, span)
    names = [one.name for one in found.held]
    so_far = e.ColumnRef(span, (Name(span, "so_far"),))
    known = parts.call(span, "filter", rows, _of_row(span, found.counts(given)))
    before: e.Expression
    held: list[e.Expression] = [so_far]
    if len(names) == 1:
        before = found.held[0].before(span)
        (after,) = found.after(held, given)
    else:
        before = _struct(span, names, [one.before(span) for one in found.held])
        held = [folds.part(so_far, name) for name in names]
        after = _struct(span, names, found.after(held, given))
    merge = e.Lambda(span, (*so_far.parts, Name(span, ROW)), after)
    value = found.value(held)
    finish = () if value == so_far else (e.Lambda(span, so_far.parts, value),)
    return parts.call(span, "aggregate", known, before, merge, *finish)


def _struct(span: Span, names: Sequence[str], values: Sequence[e.Expression]) -> e.Expression:
    named = zip(names, values, strict=True)
    arguments = [one for name, value in named for one in (parts.text(span, name), value)]
    return parts.call(span, "named_struct", *arguments)


def _of_row(span: Span, body: e.Expression) -> e.Lambda:
    return e.Lambda(span, (Name(span, ROW),), body)


def _lambda_column(span: Span, field: str) -> e.ColumnRef:
    return e.ColumnRef(span, (Name(span, ROW), Name(span, field)))


def _sum(call: RowsCall, rows: e.Expression, given: e.Expression) -> e.Expression:
    """Return the sum of the known values, NULL if there are none."""
    span, type_ = call.span, total_type(call)
    total = e.ColumnRef(span, (Name(span, "so_far"),))
    body = added(span, total, given, type_)
    function = e.Lambda(span, (Name(span, "so_far"), Name(span, ROW)), body)
    nothing = parts.cast(e.NullLiteral(span), type_)
    return parts.call(span, "aggregate", rows, nothing, function)
