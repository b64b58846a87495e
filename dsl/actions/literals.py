"""Actions of the literals in ``expressions.lark``."""

from __future__ import annotations

import re

from ..ast.expressions import (
    BooleanLiteral,
    Interval,
    IntervalPart,
    NullLiteral,
    NumberLiteral,
    StringLiteral,
    TypedLiteral,
)
from ..reports.source import Span
from ..syntax.mistakes import bad_interval
from ..syntax.spelling import text_of, unit_of
from ..syntax.tokens import UNITS

_INTERVAL_WORD = re.compile(r"\s*interval\s+", re.IGNORECASE)
_TEXT_PART = re.compile(r"\s*([+-]?\s*\d*\.?\d+)\s+([A-Za-z]+)(?=\s|$)")


def null_literal(span: Span) -> NullLiteral:
    return NullLiteral(span)


def true_literal(span: Span) -> BooleanLiteral:
    return BooleanLiteral(span, True)


def false_literal(span: Span) -> BooleanLiteral:
    return BooleanLiteral(span, False)


def number(span: Span, text: str) -> NumberLiteral:
    return NumberLiteral(span, text)


def string(span: Span, *parts: str) -> StringLiteral:
    return StringLiteral(span, "".join(text_of(part) for part in parts))


def typed_literal(span: Span, type_name: str, text: str) -> TypedLiteral:
    return TypedLiteral(span, type_name.upper(), text_of(text))


def interval(span: Span, *parts: IntervalPart) -> Interval:
    return Interval(span, parts)


def interval_signed(span: Span, sign: str, amount: str, unit: str) -> Interval:
    text = _amount(amount)
    if sign == "-":
        text = text[1:] if text.startswith("-") else f"-{text.removeprefix('+')}"
    return interval(span, IntervalPart(span, text, unit_of(unit)))


def interval_text(span: Span, text: str) -> Interval:
    """Split ``INTERVAL '1 hour 30 minutes'`` into its parts."""
    value = _INTERVAL_WORD.sub("", text_of(text))
    parts = [
        IntervalPart(span, match[1].replace(" ", ""), unit)
        for match in _TEXT_PART.finditer(value)
        if (unit := unit_of(match[2])) in UNITS
    ]
    if not parts or _TEXT_PART.sub("", value).strip():
        if value.strip().isdigit():
            help_ = f"`INTERVAL {value.strip()} SECONDS`"
            raise bad_interval(span, "an interval has no unit", help_)
        help_ = "write an amount and a unit, as in `INTERVAL 30 SECONDS`"
        raise bad_interval(span, f"`{value}` is not an interval", help_)
    return interval(span, *parts)


def interval_part(span: Span, amount: str, unit: str) -> IntervalPart:
    return IntervalPart(span, _amount(amount), unit_of(unit))


def interval_range(span: Span, amount: str, first: str, _to: str, last: str) -> IntervalPart:
    return IntervalPart(span, _amount(amount), f"{unit_of(first)} TO {unit_of(last)}")


def _amount(token: str) -> str:
    return text_of(token).strip() if token[0] in "'\"rR" else token
