"""Values converted for their targets in a program."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Code, Diagnostic, Diagnostics, Label
from ...model import types as t
from ...model.coercion import can_cast
from ...model.typed import Typed
from ..expressions.conversions import converted_to, written
from ..expressions.typing import Context
from .reads import PROGRAM
from .scope import ProgramScope


def fitted(
    value: Typed,
    node: e.Expression,
    wanted: t.Type,
    where: str,
    scope: ProgramScope,
    diagnostics: Diagnostics,
    code: Code = codes.ASSIGNED_TYPE,
) -> Typed:
    """Return a value converted to the type of its target; unchanged after a report.

    ``where`` names the target: ``cell `n` ``.
    """
    context = Context(scope, PROGRAM, diagnostics)
    found = converted_to(value, wanted, context) or _sum_of_money(value, wanted)
    if found is not None:
        return found
    text = context.text(node)
    diagnostics.add(
        Diagnostic(
            code,
            f"{where} is {wanted}, `{text}` is {value.type}",
            Label(node.span, str(value.type)),
            help=f"write `CAST({text} AS {wanted})`"
            if can_cast(value.type, wanted)
            else f"give it a value of type {wanted}",
        )
    )
    return value


_ARITHMETIC = ("+", "-", "*", "/", "%")


def _sum_of_money(value: Typed, wanted: t.Type) -> Typed | None:
    """Return a computed DECIMAL as that of its target, None for others.

    Each operator makes the type wider, so that `spent + amount` would never fit `spent` again. The
    digits after the point have to fit: they would be rounded silently. Too many before it are an
    error when the row arrives. A whole-number literal fits or does not.
    """
    if not isinstance(wanted, t.Decimal) or not (
        _is_computed(value, wanted) or _is_written(value, wanted)
    ):
        return None
    span = value.expression.span
    return Typed(e.Cast(span, value.expression, written(wanted, span)), wanted, value.nullable)


def _is_computed(value: Typed, wanted: t.Decimal) -> bool:
    if not isinstance(value.type, t.Decimal) or value.type.scale > wanted.scale:
        return False
    found = (node for node in walk(value.expression) if isinstance(node, e.Binary))
    return any(node.operator in _ARITHMETIC for node in found)


def _is_written(value: Typed, wanted: t.Decimal) -> bool:
    node = value.expression
    if isinstance(node, e.Unary) and node.operator == "-":
        node = node.operand
    if not isinstance(node, e.NumberLiteral) or not node.text.isdigit():
        return False
    return len(node.text.lstrip("0")) <= wanted.precision - wanted.scale
