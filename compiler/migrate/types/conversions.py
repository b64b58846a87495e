"""Which types hold all values of another one, and the SQL that converts between them."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from ....dsl.ast.expressions import Cast
from ....dsl.parsing.parse import parse_expression
from ....dsl.reports.diagnostics import Diagnostics
from ....dsl.reports.source import SourceFile
from ...model import types as t

_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
"""The digits of the longest whole numbers."""

_EXACT_IN = {"FLOAT": ("TINYINT", "SMALLINT"), "DOUBLE": ("TINYINT", "SMALLINT", "INT", "FLOAT")}
"""The types whose values a binary fraction holds without rounding."""

Held: TypeAlias = tuple[str | None, int | None]
"""How a value is held: its type, and the digits after the implied point of a whole number."""


@cache
def type_of(text: str | None) -> t.Type:
    """Return the type in a plan; UNKNOWN for none."""
    if text is None:
        return t.UNKNOWN
    source = SourceFile("type", f"CAST(x AS {text})")
    tree, _ = parse_expression(source)
    return t.from_node(tree.type, Diagnostics(source)) if isinstance(tree, Cast) else t.UNKNOWN


def holds_all(old: str | None, new: str | None) -> bool:
    """Whether each value of one type is a value of another, to the last digit."""
    if old == new or old is None or new is None:
        # A type unknown to the compiler is compared by the runtime, with Spark's.
        return True
    return type_holds_all(type_of(old), type_of(new))


def type_holds_all(old: t.Type, new: t.Type) -> bool:
    """Whether each value of one type is a value of another, with fields of structs by position."""
    match old, new:
        case t.Array(before), t.Array(after):
            return type_holds_all(before, after)
        case t.Map(key, value), t.Map(new_key, new_value):
            return type_holds_all(key, new_key) and type_holds_all(value, new_value)
        case t.Struct(before), t.Struct(after):
            return len(before) == len(after) and all(
                a.name == b.name and type_holds_all(a.type, b.type)
                for a, b in zip(before, after, strict=True)
            )
        case t.Decimal(precision, scale), t.Decimal(wider, finer):
            return finer >= scale and wider - finer >= precision - scale
        case t.Scalar(name), t.Decimal(precision, scale) if name in _DIGITS:
            return precision - scale >= _DIGITS[name]
        case t.Scalar(name), t.Scalar(other):
            if name in _DIGITS and other in _DIGITS:
                return _DIGITS[name] <= _DIGITS[other]
            return name == other or name in _EXACT_IN.get(other, ())
    return old == new


class RenamedType(str):
    """A type in a plan, with renamed fields: the state has the old ones at the same positions."""

    __slots__ = ()


def in_its_type(column: str, type_: str | None) -> str:
    """Return a column of a state as a value of its type in a plan."""
    return cast(column, type_) if isinstance(type_, RenamedType) else column


def cast(expression: str, type_: str | None) -> str:
    """Return a CAST in SQL; an unknown type needs none."""
    return expression if type_ is None else f"CAST({expression} AS {type_})"


def convert(expression: str, old: Held, new: Held) -> str | None:
    """Return SQL that converts a value held in one way to another, None if digits may be lost.

    ``(BIGINT, 2)`` is a DECIMAL with two digits after the point, kept as a whole number.
    """
    return rounded(expression, old, new) if _is_exact(old, new) else None


def rounded(expression: str, old: Held, new: Held) -> str:
    """Return SQL that converts a value held in one way to another, rounding where necessary."""
    (old_type, before), (new_type, after) = old, new
    if old == new:
        return expression
    shift = (after or 0) - (before or 0)
    if shift > 0:
        expression = f"{expression} * {10**shift}"
    elif shift < 0 and old_type == "BIGINT":
        expression = f"CAST({expression} AS DECIMAL(20,0)) * 0.{'1':0>{-shift}}"
    elif shift < 0:
        expression = f"{expression} / {10**-shift}"
    return cast(expression, new_type)


def _is_exact(old: Held, new: Held) -> bool:
    (old_type, before), (new_type, after) = old, new
    if before == after:
        return holds_all(old_type, new_type)
    if old_type == "DOUBLE" and before is None:
        return False
    before, after = before or 0, after or 0
    source, target = type_of(old_type), type_of(new_type)
    if isinstance(target, t.Decimal):
        return target.scale >= before and target.precision - target.scale >= 19 - before
    if isinstance(source, t.Decimal):
        return source.scale <= after
    return after >= before and holds_all(old_type, new_type)
