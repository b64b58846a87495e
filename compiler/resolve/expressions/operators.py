"""Operators: arithmetic, bits, texts, comparisons, logic."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, InternalError, Label
from ...model import coercion
from ...model import types as t
from ...model.rules import concatenated, operand_type
from ...model.typed import Typed
from .comparisons import require_comparable, with_names_of
from .literals import number_type
from .typing import Context, require_boolean, typed

_LOGICAL = frozenset({"AND", "OR"})
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV"})
_BITS = frozenset({"&", "|", "^"})
_SHIFTS = frozenset({"<<", ">>", ">>>"})


@typed.register(e.Binary)
def _typed_binary(node: e.Binary, context: Context) -> Typed:
    # A chain of operators is left-deep: a loop, so that a long one needs no deep stack.
    chain = [node]
    while isinstance(chain[-1].left, e.Binary):
        chain.append(chain[-1].left)
    left = typed(chain[-1].left, context)
    for link in reversed(chain):
        operand = link.right
        if link.operator in _COMPARISONS:
            operand = with_names_of(left.type, operand)
        right = typed(operand, context)
        resolved = e.Binary(link.span, link.operator, left.expression, right.expression)
        type_ = _binary_type(link, left, right, context)
        left = Typed(resolved, type_, _binary_nullable(link.operator, type_, left, right))
    return left


def _binary_nullable(operator: str, type_: t.Type, left: Typed, right: Typed) -> bool:
    if operator == "<=>":
        return False
    may_fail = operator in ("/", "%", "DIV") or isinstance(type_, t.Decimal)
    return may_fail or left.nullable or right.nullable


def _binary_type(node: e.Binary, left: Typed, right: Typed, context: Context) -> t.Type:
    operator = node.operator
    if operator in _LOGICAL:
        require_boolean(left, node.left, context, f"`{operator}`")
        require_boolean(right, node.right, context, f"`{operator}`")
        return t.BOOLEAN
    if operator in _COMPARISONS:
        require_comparable(left, right, (node.left, node.right), context, f"`{operator}`")
        return t.BOOLEAN
    if left.type is t.UNKNOWN or right.type is t.UNKNOWN:
        return t.STRING if operator == "||" and t.STRING in (left.type, right.type) else t.UNKNOWN
    if operator in _ARITHMETIC:
        return _arithmetic_type(node, left, right, context)
    if operator in _BITS:
        return _bits_type(node, left, right, context)
    if operator in _SHIFTS:
        return _shift_type(node, left, right, context)
    if operator == "||":
        return _concatenation_type(node, left, right, context)
    raise InternalError(f"no type for operator {operator}")


def _arithmetic_type(node: e.Binary, left: Typed, right: Typed, context: Context) -> t.Type:
    operator, a, b = node.operator, left.type, right.type
    if operator == "DIV" and (a in t.FRACTIONALS or b in t.FRACTIONALS):
        context.report(_not_whole(node, a, b, context))
        return t.BIGINT
    if t.is_numeric(a) and t.is_numeric(b):
        return coercion.arithmetic(operator, operand_type(left, b), operand_type(right, a))
    result = _null_arithmetic(operator, a, b) or coercion.calendar_arithmetic(operator, a, b)
    if result is not None:
        return result
    context.report(_bad_arithmetic(node, a, b, context))
    return t.UNKNOWN


def _null_arithmetic(operator: str, a: t.Type, b: t.Type) -> t.Type | None:
    if t.NULL not in (a, b):
        return None
    other = a if b is t.NULL else b
    if other is t.NULL:
        return t.BIGINT if operator == "DIV" else t.DOUBLE
    if t.is_numeric(other):
        return coercion.arithmetic(operator, other, other)
    if other in t.DATETIMES and operator == "-" and b is t.NULL:
        return coercion.datetime_difference(other, other) if other != t.DATE else t.UNKNOWN
    return t.UNKNOWN


def _bits_type(node: e.Binary, left: Typed, right: Typed, context: Context) -> t.Type:
    for value, operand in ((left, node.left), (right, node.right)):
        if not t.is_integral(value.type) and not t.is_open(value.type):
            context.report(_not_integral(node.operator, operand, value.type, context))
            return t.UNKNOWN
    return coercion.common_type(left.type, right.type) or t.UNKNOWN


def _shift_type(node: e.Binary, left: Typed, right: Typed, context: Context) -> t.Type:
    for value, operand in ((left, node.left), (right, node.right)):
        if not t.is_integral(value.type) and not t.is_open(value.type):
            context.report(_not_integral(node.operator, operand, value.type, context))
            return t.UNKNOWN
    return t.BIGINT if left.type == t.BIGINT else t.INT


def _concatenation_type(node: e.Binary, left: Typed, right: Typed, context: Context) -> t.Type:
    result = concatenated((left.type, right.type))
    if result is None:
        context.report(_bad_concatenation(node, left.type, right.type, context))
        return t.UNKNOWN
    return result


@typed.register(e.Unary)
def _typed_unary(node: e.Unary, context: Context) -> Typed:
    if node.operator == "-" and isinstance(node.operand, e.NumberLiteral):
        return Typed(node, number_type(node, f"-{node.operand.text}", context), nullable=False)
    operand = typed(node.operand, context)
    resolved = e.Unary(node.span, node.operator, operand.expression)
    return Typed(resolved, _unary_type(node, operand, context), operand.nullable)


def _unary_type(node: e.Unary, operand: Typed, context: Context) -> t.Type:
    if node.operator == "NOT":
        require_boolean(operand, node.operand, context, "`NOT`")
        return t.BOOLEAN
    if t.is_open(operand.type):
        return operand.type if operand.type is t.UNKNOWN else t.DOUBLE
    if node.operator == "~":
        if t.is_integral(operand.type):
            return operand.type
        context.report(_not_integral("~", node.operand, operand.type, context))
        return t.UNKNOWN
    if t.is_numeric(operand.type) or isinstance(operand.type, t.IntervalType):
        return operand.type
    context.report(_bad_sign(node, operand.type, context))
    return t.UNKNOWN


def _bad_arithmetic(node: e.Binary, a: t.Type, b: t.Type, context: Context) -> Diagnostic:
    operand, type_ = (node.left, a) if a == t.STRING else (node.right, b)
    written = context.text(operand)
    if type_ == t.STRING:
        if a == b and node.operator == "+":
            fix = (
                f"write `{context.text(node.left)} || {context.text(node.right)}` to "
                "concatenate strings"
            )
        else:
            fix = f"write `CAST({written} AS DOUBLE)` if it contains a number"
        return Diagnostic(
            codes.OPERAND_TYPE,
            f"`{node.operator}` is arithmetic, but `{written}` is a string",
            Label(operand.span, "STRING"),
            help=fix,
        )
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"there is no `{node.operator}` for {a} and {b}",
        Label(node.right.span, str(b)),
        secondary=(Label(node.left.span, str(a)),),
        help=_arithmetic_help(node, a, b, context),
    )


def _arithmetic_help(node: e.Binary, a: t.Type, b: t.Type, context: Context) -> str:
    if a in t.DATETIMES and t.is_numeric(b):
        unit = "DAY" if a == t.DATE else "SECOND"
        amount = context.text(node.right)
        if amount.isdigit():
            return f"add a unit: `INTERVAL {amount} {unit}{'' if amount == '1' else 'S'}`"
        return f"add a unit: `{amount} * INTERVAL 1 {unit}`"
    if node.operator == "-" and b in t.DATETIMES and isinstance(a, t.IntervalType):
        return f"write `{context.text(node.right)} - {context.text(node.left)}`"
    return "combine numbers with numbers, and intervals with intervals, dates and times"


def _not_whole(node: e.Binary, a: t.Type, b: t.Type, context: Context) -> Diagnostic:
    operand, type_ = (node.left, a) if a in t.FRACTIONALS else (node.right, b)
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"`DIV` divides whole numbers and decimals, but `{context.text(operand)}` is {type_}",
        Label(operand.span, str(type_)),
        help=f"write `floor({context.text(node.left)} / {context.text(node.right)})`",
    )


def _not_integral(
    operator: str, operand: e.Expression, type_: t.Type, context: Context
) -> Diagnostic:
    written = context.text(operand)
    fix = f"write `CAST({written} AS BIGINT)`" if type_ != t.BOOLEAN else "write `AND` or `OR`"
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"`{operator}` works on the bits of whole numbers, but `{written}` is {type_}",
        Label(operand.span, str(type_)),
        help=fix,
    )


def _bad_sign(node: e.Unary, type_: t.Type, context: Context) -> Diagnostic:
    written = context.text(node.operand)
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"`{node.operator}` takes a number or an interval, but `{written}` is {type_}",
        Label(node.operand.span, str(type_)),
        help=f"write `CAST({written} AS DOUBLE)` if it contains a number"
        if type_ == t.STRING
        else "remove the sign",
    )


def _bad_concatenation(node: e.Binary, a: t.Type, b: t.Type, context: Context) -> Diagnostic:
    complex_left = isinstance(a, (t.Array, t.Map, t.Struct))
    operand, type_ = (node.left, a) if complex_left else (node.right, b)
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"`||` concatenates strings, or arrays of one type; it is not defined for {a} and {b}",
        Label(operand.span, str(type_)),
        help=f"write `to_json({context.text(operand)})` for its text",
    )
