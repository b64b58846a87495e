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
from ..source import Span
from ..syntax_hints import bad_interval

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)
_ESCAPED = {
    "0": "\0",
    "b": "\b",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "Z": "\x1a",
    "%": r"\%",
    "_": r"\_",
}
_TEXT_PART = re.compile(r"\s*([+-]?\s*\d*\.?\d+)\s+([A-Za-z]+?)[sS]?(?=\s|$)")


def text_of(literal: str) -> str:
    """Return what a string token stands for: escapes as in Spark, doubled quotes, ``r'…'``."""
    if literal[0] in "rR":
        return literal[2:-1]
    quote = literal[0]
    text = literal[1:-1]
    if quote in text:
        text = text.replace(quote + quote, quote)
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(match: re.Match[str]) -> str:
    short, long, octal, other = match.groups()
    if short or long:
        return chr(int(short or long, 16))
    return chr(int(octal, 8)) if octal else _ESCAPED.get(other, other)


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
    return _checked(Interval(span, parts))


def interval_signed(span: Span, sign: str, amount: str, unit: str) -> Interval:
    text = _amount(amount)
    if sign == "-":
        text = text[1:] if text[0] == "-" else "-" + text
    return _checked(Interval(span, (IntervalPart(span, text, _unit(unit)),)))


def interval_text(span: Span, text: str) -> Interval:
    value = text_of(text)
    parts = [
        IntervalPart(span, m[1].replace(" ", ""), m[2].upper()) for m in _TEXT_PART.finditer(value)
    ]
    if not parts or _TEXT_PART.sub("", value).strip():
        raise bad_interval(span, f"`{value}` is not an interval")
    return _checked(Interval(span, tuple(parts)))


def interval_part(span: Span, amount: str, unit: str) -> IntervalPart:
    return IntervalPart(span, _amount(amount), _unit(unit))


def interval_range(span: Span, amount: str, first: str, _to: str, last: str) -> IntervalPart:
    return IntervalPart(span, _amount(amount), f"{_unit(first)} TO {_unit(last)}")


def _unit(word: str) -> str:
    return word.upper().rstrip("S")


def _amount(token: str) -> str:
    return text_of(token).strip() if token[0] in "'\"rR" else token


def _checked(interval_: Interval) -> Interval:
    return interval_
