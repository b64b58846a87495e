"""Calls such as ``TIMESTAMPADD(HOUR, 1, ts)`` whose first argument is a unit of time."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.suggest import did_you_mean
from ...model import types as t
from ...model.typed import Typed
from .typing import Context, typed

_ADD = frozenset(("timestampadd", "dateadd", "date_add"))
_DIFFERENCE = frozenset(("timestampdiff", "datediff", "date_diff", "timediff"))
_UNITS = """YEAR QUARTER MONTH WEEK DAY DAYOFYEAR HOUR MINUTE SECOND MILLISECOND
MICROSECOND""".split()
_MOMENTS = (t.TIMESTAMP, t.TIMESTAMP_NTZ, t.DATE)


def is_by_unit(node: e.Call) -> bool:
    """Return whether a call is one of these; some of their names have forms without a unit too."""
    return node.name.text.lower() in _ADD | _DIFFERENCE and len(node.arguments) == 3


def typed_by_unit(node: e.Call, context: Context) -> Typed:
    """Return such a call with its names resolved and its type; a DATE becomes an instant first."""
    unit, *rest = node.arguments
    word = _unit(unit, context)
    values = [typed(argument, context) for argument in rest]
    adds = node.name.text.lower() in _ADD
    for number, (value, written) in enumerate(zip(values, rest, strict=True)):
        is_amount = adds and number == 0
        fits = t.is_integral(value.type) if is_amount else value.type in _MOMENTS
        if not fits and not t.is_open(value.type):
            wanted = "a whole number" if is_amount else "an instant"
            context.report(_argument_type(node, written, value.type, wanted, context))
    type_: t.Type = t.BIGINT
    if adds:
        type_ = values[1].type if values[1].type != t.DATE else t.TIMESTAMP
    arguments = (word, *(value.expression for value in values))
    resolved = e.Call(node.span, node.name, arguments)
    return Typed(resolved, type_, any(value.nullable for value in values))


@typed.register(e.Word)
def _typed_word(node: e.Word, context: Context) -> Typed:
    return Typed(node, t.UNKNOWN)


def _unit(node: e.Expression, context: Context) -> e.Word:
    text = node.parts[0].text if isinstance(node, e.ColumnRef) and len(node.parts) == 1 else ""
    if text.upper() not in _UNITS:
        written = context.text(node)
        context.report(
            Diagnostic(
                codes.UNKNOWN_DATE_PART,
                f"`{written}` is not a unit of time",
                Label(node.span),
                help=did_you_mean(written.upper(), _UNITS) or f"one of {', '.join(_UNITS)}",
            )
        )
    return e.Word(node.span, text.upper())


def _argument_type(
    node: e.Call, written: e.Expression, type_: t.Type, wanted: str, context: Context
) -> Diagnostic:
    text = context.text(written)
    target = "BIGINT" if "number" in wanted else "TIMESTAMP"
    return Diagnostic(
        codes.ARGUMENT_TYPE,
        f"`{node.name.text}` takes {wanted} here, `{text}` is {type_}",
        Label(written.span, str(type_)),
        help=f"`CAST({text} AS {target})` if that is intended",
    )
