"""Comparable types and common types.

Spark casts a text to whatever it is compared with, row by row; here that is a mistake, except that
a text literal next to a date or time is read as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types as t
from ...model.coercion import can_cast, can_compare, common_type
from ...model.typed import Typed
from .literals import name_in_quotes, text_as_moment, texts_as_moments
from .typing import Context

Pair = tuple[e.Expression, e.Expression]


_NEVER_WITH_NULL = frozenset({"`=`", "`<>`", "`<`", "`<=`", "`>`", "`>=`"})


def require_comparable(left: Typed, right: Typed, nodes: Pair, context: Context, what: str) -> None:
    """Report two values that can't be compared by ``what`` (an operator or a clause)."""
    if what in _NEVER_WITH_NULL and t.NULL in (left.type, right.type):
        context.report(_with_null(left, nodes, context, what))
        return
    if t.is_open(left.type) or t.is_open(right.type) or can_compare(left.type, right.type):
        return
    if text_as_moment(right, left.type, context) or text_as_moment(left, right.type, context):
        return
    if _text_and_number(left.type, right.type):
        context.report(_compared_text_and_number(left, right, nodes, context, what))
    elif common_type(left.type, right.type) is not None:
        context.report(_no_order(left.type, nodes, what))
    else:
        context.report(_incomparable(left.type, right.type, nodes, context, what))


def with_names_of(left: t.Type, node: e.Expression) -> e.Expression:
    """Return a row compared with a struct, with its values under the struct's names.

    To Spark, structs with other names are other types.
    """
    if not (isinstance(node, e.Row) and isinstance(left, t.Struct)):
        return node
    if len(node.items) != len(left.fields):
        return node
    arguments: list[e.Expression] = []
    for field, item in zip(left.fields, node.items, strict=True):
        arguments += [e.StringLiteral(item.span, field.name), item]
    return e.Call(node.span, Name(node.span, "named_struct"), tuple(arguments))


def unified(
    values: Sequence[Typed], nodes: Sequence[e.Expression], context: Context, what: str
) -> t.Type:
    """Return the common type of alternatives; ``what`` chooses among them."""
    found: t.Type = t.NULL
    first: e.Expression | None = None
    for i, (value, node) in enumerate(zip(values, nodes, strict=True)):
        common = common_type(found, value.type)
        if common is None and text_as_moment(value, found, context):
            continue
        if common is None and texts_as_moments(values[:i], value.type, context):
            common = value.type
        if common is None:
            context.report(_no_common_type(found, value.type, first or node, node, context, what))
            return t.UNKNOWN
        if common != found:
            first = node
        found = common
    return found


def _text_and_number(a: t.Type, b: t.Type) -> bool:
    return (a == t.STRING and t.is_numeric(b)) or (b == t.STRING and t.is_numeric(a))


def _compared_text_and_number(
    left: Typed, right: Typed, nodes: Pair, context: Context, what: str
) -> Diagnostic:
    flip = left.type != t.STRING
    text, number = (right, left) if flip else (left, right)
    text_node, number_node = reversed(nodes) if flip else nodes
    return Diagnostic(
        codes.TEXT_AND_NUMBER,
        f"{what} compares a string with a number",
        Label(text_node.span, "STRING"),
        secondary=(Label(number_node.span, str(number.type)),),
        help=text_for_number(text, text_node, number.type, context),
    )


def text_for_number(value: Typed, node: e.Expression, number: t.Type, context: Context) -> str:
    """Return the help line for a text where a number of that type is wanted."""
    match value.expression:
        case e.StringLiteral(_, written) if _is_number(written):
            return f"write `{written.strip()}`"
        case e.StringLiteral():
            return name_in_quotes(context.text(node)) or "write a number, without quotes"
    return f"write `CAST({context.text(node)} AS {number})`"


def _is_number(text: str) -> bool:
    digits = text.strip().removeprefix("-")
    return digits.replace(".", "", 1).isdigit() and digits.isascii()


def _with_null(left: Typed, nodes: Pair, context: Context, what: str) -> Diagnostic:
    null, other = nodes if left.type is t.NULL else (nodes[1], nodes[0])
    test = "IS NOT NULL" if what == "`<>`" else "IS NULL"
    return Diagnostic(
        codes.COMPARED_WITH_NULL,
        f"{what} with NULL is never true",
        Label(null.span),
        help=f"write `{context.text(other)} {test}`",
    )


def _no_order(type_: t.Type, nodes: Pair, what: str) -> Diagnostic:
    return Diagnostic(
        codes.INCOMPARABLE,
        f"{what} cannot compare values of {type_}",
        Label(nodes[1].span),
        secondary=(Label(nodes[0].span, str(type_)),),
        help="compare one value of it, read by its key or path",
    )


def _incomparable(a: t.Type, b: t.Type, nodes: Pair, context: Context, what: str) -> Diagnostic:
    fix = "compare values of one type"
    if moment := _for_number(a, b, nodes, context, what):
        fix = moment
    elif b == t.STRING and can_cast(b, a):
        fix = f"write `CAST({context.text(nodes[1])} AS {a})`"
    elif can_cast(a, b):
        fix = f"write `CAST({context.text(nodes[0])} AS {b})`, if that is intended"
    return Diagnostic(
        codes.INCOMPARABLE,
        f"{what} cannot compare {a} with {b}",
        Label(nodes[1].span, str(b)),
        secondary=(Label(nodes[0].span, str(a)),),
        help=fix,
    )


def _for_number(a: t.Type, b: t.Type, nodes: Pair, context: Context, what: str) -> str | None:
    """Return help about a number next to a date, time, interval or boolean; None for others.

    Spark would either cast the instant to a number, losing its fraction, or refuse.
    """
    number, other = (1, a) if t.is_numeric(b) else (0, b)
    if not t.is_numeric((a, b)[number]):
        return None
    text = context.text(nodes[number])
    beside = context.text(nodes[1 - number])
    if other in t.DATETIMES:
        return number_as_instant(text, other)
    if isinstance(other, t.IntervalType):
        amount = text if isinstance(nodes[number], e.NumberLiteral) else "10"
        unit = "SECONDS" if other.is_day_time else "MONTHS"
        return f"write an interval: `INTERVAL {amount} {unit}`"
    if other == t.BOOLEAN and text in ("0", "1") and what in ("`=`", "`<>`"):
        return f"write `{beside}`" if (text == "1") == (what == "`=`") else f"write `NOT {beside}`"
    return None


def number_as_instant(text: str, wanted: t.Type) -> str:
    """Return help about a number, as written, where a day or instant is expected."""
    if wanted == t.DATE:
        return "write a day: `DATE '2026-01-31'`"
    return (
        "write an instant: `TIMESTAMP '2026-01-31 10:00:00'`; a number since 1970 is converted\n"
        f"by `TIMESTAMP_SECONDS({text})`, `TIMESTAMP_MILLIS({text})` or `TIMESTAMP_MICROS({text})`"
    )


def _no_common_type(
    a: t.Type, b: t.Type, first: e.Expression, node: e.Expression, context: Context, what: str
) -> Diagnostic:
    code = codes.TEXT_AND_NUMBER if _text_and_number(a, b) else codes.NO_COMMON_TYPE
    target = t.STRING if t.STRING in (a, b) else a
    operand = first if b == target else node
    fix = f"write `CAST({context.text(operand)} AS {target})`"
    if moment := _for_number(a, b, (first, node), context, what):
        fix = moment
    elif not can_cast(b if operand is node else a, target):
        fix = "give all alternatives one type"
    if target == t.STRING and isinstance(operand, e.NumberLiteral):
        fix = f"write `'{operand.text}'`"
    return Diagnostic(
        code,
        f"{what} mixes {a} and {b}",
        Label(node.span, str(b)),
        secondary=(Label(first.span, str(a)),),
        help=fix,
    )
