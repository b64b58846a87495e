"""Results of functions that a signature can't express: they depend on values, names or digits.

A rule takes the typed arguments and the bindings of the signature's holes, and returns the result's
type: UNKNOWN when it is undecidable, None when the arguments are incompatible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ...dsl.ast import expressions as e
from . import coercion
from . import types as t
from .date_parts import part_named, part_type
from .signature_table import CASTS
from .signatures import Bindings
from .typed import Typed

Rule: TypeAlias = Callable[[Sequence[Typed], Bindings], t.Type | None]

_DOUBLE_DIGITS = t.Decimal(30, 15)
_FLOAT_DIGITS = t.Decimal(14, 7)


def _first(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    return arguments[0].type


def _concatenated(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    return concatenated([argument.type for argument in arguments])


def concatenated(types: Sequence[t.Type]) -> t.Type | None:
    """Return the type of ``concat`` and ``||``: arrays, binaries, or texts of anything plain."""
    if any(isinstance(type_, t.Array) for type_ in types):
        return None if t.NULL in types else coercion.common_type_of(types)
    if any(isinstance(type_, (t.Map, t.Struct)) for type_ in types):
        return None
    if types and all(type_ == t.BINARY for type_ in types):
        return t.BINARY
    return t.UNKNOWN if t.UNKNOWN in types else t.STRING


def _reversed(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    type_ = arguments[0].type
    if isinstance(type_, t.Array) or type_ in (t.BINARY, t.UNKNOWN):
        return type_
    return None if isinstance(type_, (t.Map, t.Struct)) else t.STRING


def _date_part(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    word = arguments[0].expression
    if not isinstance(word, e.StringLiteral):
        return t.UNKNOWN
    part = part_named(word.value)
    return None if part is None else part_type(part, arguments[1].type)


def _rounded(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    """Spark's ``round``: a decimal loses digits after the point and gains one before it."""
    type_ = arguments[0].type
    if not isinstance(type_, t.Decimal):
        return t.DOUBLE if type_ is t.NULL else type_
    scale = _literal_int(arguments[1]) if len(arguments) > 1 else 0
    if scale is None:
        return t.UNKNOWN
    return _rounded_decimal(type_, scale)


def _rounded_decimal(type_: t.Decimal, scale: int) -> t.Type:
    whole = type_.precision - type_.scale + 1
    if scale < 0:
        return t.Decimal(min(max(whole, 1 - scale), t.MAX_PRECISION), 0)
    kept = min(type_.scale, scale)
    return t.Decimal(min(whole + kept, t.MAX_PRECISION), kept)


def _whole(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    """``floor`` and ``ceil``: BIGINT or a decimal; with a number of digits always a decimal."""
    type_ = arguments[0].type
    if len(arguments) == 1:
        return _rounded_decimal(type_, 0) if isinstance(type_, t.Decimal) else t.BIGINT
    scale = _literal_int(arguments[1])
    if scale is None or t.is_open(type_):
        return t.UNKNOWN
    if type_ in t.FRACTIONALS:
        type_ = _DOUBLE_DIGITS if type_ == t.DOUBLE else _FLOAT_DIGITS
    return _rounded_decimal(coercion.as_decimal(type_), scale)


def operand_type(value: Typed, other: t.Type) -> t.Type:
    """Return the type that Spark gives a whole-number literal next to a decimal: its own digits."""
    if not isinstance(other, t.Decimal) or value.type not in t.INTEGRALS:
        return value.type
    match value.expression:
        case e.NumberLiteral(_, text) | e.Unary(_, "-", e.NumberLiteral(_, text)):
            digits = "".join(char for char in text if char.isdigit()).lstrip("0")
            return t.Decimal(len(digits) or 1, 0)
    return value.type


def _calculated(operator: str) -> Rule:
    """``mod`` and the ``try_`` functions: the type of the operator."""

    def rule(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
        left, right = arguments[0], arguments[1]
        a, b = left.type, right.type
        if t.is_open(a) or t.is_open(b):
            return t.UNKNOWN
        if t.is_numeric(a) and t.is_numeric(b):
            return coercion.arithmetic(operator, operand_type(left, b), operand_type(right, a))
        return coercion.calendar_arithmetic(operator, a, b)

    return rule


def _shifted(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    return t.BIGINT if arguments[0].type == t.BIGINT else t.INT


def _zero_if_null(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    return coercion.common_type(arguments[0].type, t.INT)


def _reduced(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    return bound.get("V" if len(arguments) > 3 else "U", t.UNKNOWN)


def _element(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    match arguments[0].type, arguments[1].type:
        case t.Array(element), index:
            return element if t.is_integral(index) or t.is_open(index) else None
        case t.Map(key, value), index:
            return value if coercion.common_type(key, index) is not None else None
    return t.UNKNOWN


def _mapped(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    if len(arguments) % 2:
        return None
    key = coercion.common_type_of(argument.type for argument in arguments[::2])
    value = coercion.common_type_of(argument.type for argument in arguments[1::2])
    return None if key is None or value is None else t.Map(key, value)


def _entries(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    key, value = bound.get("K", t.UNKNOWN), bound.get("V", t.UNKNOWN)
    return t.Array(t.Struct((t.Field("key", key), t.Field("value", value))))


def _from_entries(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    match bound.get("T"):
        case t.Struct((key, value)):
            return t.Map(key.type, value.type)
        case t.Struct():
            return None
    return t.UNKNOWN


def _named_struct(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    if len(arguments) % 2:
        return None
    fields: list[t.Field] = []
    for name, value in zip(arguments[::2], arguments[1::2], strict=True):
        if not isinstance(name.expression, e.StringLiteral):
            return None
        fields.append(t.Field(name.expression.value, value.type))
    return t.Struct(tuple(fields))


def _struct(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    names = (_struct_name(argument.expression, i) for i, argument in enumerate(arguments, 1))
    fields = (t.Field(n, a.type) for n, a in zip(names, arguments, strict=True))
    return t.Struct(tuple(fields))


def _struct_name(expression: e.Expression, position: int) -> str:
    match expression:
        case e.ColumnRef(_, parts):
            return parts[-1].text
        case e.FieldAccess(_, _, field):
            return field.text
    return f"col{position}"


def _sequence(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
    start = coercion.common_type(arguments[0].type, arguments[1].type)
    if start is None or start is t.UNKNOWN or start is t.NULL:
        return start
    return t.Array(start) if start in (*t.INTEGRALS, *t.DATETIMES) else None


def _literal_int(argument: Typed) -> int | None:
    match argument.expression:
        case e.NumberLiteral(_, text) if text.lstrip("-").isdigit():
            return int(text)
        case e.Unary(_, "-", e.NumberLiteral(_, text)) if text.isdigit():
            return -int(text)
    return None


def _cast(name: str) -> Rule:
    target = t.plain(name.upper())

    def rule(arguments: Sequence[Typed], bound: Bindings) -> t.Type | None:
        if target is None or not coercion.can_cast(arguments[0].type, target):
            return None
        return target

    return rule


RULES: dict[str, Rule] = {
    **{f"as_{name}": _cast(name) for name in CASTS},
    "concatenated": _concatenated,
    "date_part": _date_part,
    "element": _element,
    "entries": _entries,
    "first": _first,
    "from_entries": _from_entries,
    "mapped": _mapped,
    "named_struct": _named_struct,
    "reduced": _reduced,
    "remainder": _calculated("%"),
    "reversed": _reversed,
    "rounded": _rounded,
    "sequence": _sequence,
    "shifted": _shifted,
    "struct": _struct,
    "tried_difference": _calculated("-"),
    "tried_product": _calculated("*"),
    "tried_quotient": _calculated("/"),
    "tried_sum": _calculated("+"),
    "whole": _whole,
    "zero_if_null": _zero_if_null,
}
"""Rules by their names in signatures."""
