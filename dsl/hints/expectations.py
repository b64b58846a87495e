"""What a parser expects, in a few words."""

from __future__ import annotations

from collections.abc import Iterable

from ..syntax.lalr import RESERVED
from ..syntax.tokens import SYMBOLIC

_EXPRESSION = {"NAME", "INTEGER", "STRING", "CASE"}
"""Kinds that are all accepted only where an expression begins."""

_BEGINS_EXPRESSION = frozenset(
    """NAME INTEGER NUMBER STRING AMOUNT TYPED INTERVAL CASE CAST TRY_CAST EXTRACT NULL TRUE FALSE
    SUBSTRING OVERLAY POSITION TRIM STRUCT
    NOT - + ~ (""".split()
)
_GOES_ON = frozenset(
    """COMPARISON SHIFT DIVISION = < > | ^ & + - * || DIV . [ : :: AND OR IN IS LIKE RLIKE BETWEEN
    NOT OVER FILTER WITHIN IGNORE RESPECT ALIAS MATCH_RECOGNIZE""".split()
)
"""Kinds that can follow any expression: mentioned only when nothing else fits."""

_ACCESS = {".", "[", ":", "::"}
_JOINS = frozenset(("INNER", "LEFT", "RIGHT", "FULL", "CROSS", "JOIN"))
_PHRASES = {
    "NAME": "a name",
    "ALIAS": "an alias",
    "INTEGER": "a whole number",
    "NUMBER": "a number",
    "STRING": "a string",
    "AMOUNT": "an amount",
    "UNIT": "a unit of time",
    "WINDOWING": "a window",
    "INTERVAL": "an interval",
    "$END": "`;`",
}
_FIRST = ("FROM", "ON", "JOIN", "WHERE", "GROUP", "HAVING")
_MOST = 6


def phrase(expected: frozenset[str]) -> str:
    """Return ``an expression``, or ``a name, `)` or `FROM```; empty when nothing is known."""
    kinds = set(expected)
    phrases = []
    if kinds >= _EXPRESSION:
        kinds -= _BEGINS_EXPRESSION
        phrases.append("an expression")
    ends_between = "AND" in kinds and "OR" not in kinds
    if kinds - _GOES_ON or ends_between:
        kinds -= _GOES_ON - ({"AND"} if ends_between else set())
    elif len(kinds - _ACCESS) > _MOST:
        return "an operator"
    else:
        kinds -= _ACCESS
    if kinds >= _JOINS:
        kinds -= _JOINS - {"JOIN"}
    if "INTEGER" in kinds:
        kinds -= {"NUMBER", "AMOUNT"}
    phrases += [_PHRASES[kind] for kind in _PHRASES if kind in kinds]
    rest = sorted(kinds - set(_PHRASES) - SYMBOLIC, key=_place_in_list)
    phrases += [f"`{kind}`" for kind in rest]
    if len(phrases) > _MOST:
        phrases = [*phrases[: _MOST - 1], "…"]
        return ", ".join(phrases)
    return " or ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1]))) if phrases else ""


def _place_in_list(kind: str) -> tuple[bool, int, str]:
    place = _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
    return (kind.isidentifier(), place, kind)


def keywords(expected: Iterable[str]) -> list[str]:
    """Return the expected kinds that are words."""
    return [kind for kind in expected if kind.isidentifier() and kind not in _PHRASES]


def is_clause(kind: str) -> bool:
    """Return whether a word begins a clause, and so ends a list."""
    return kind in RESERVED - {"CASE", "NOT", "NULL", "TRUE", "FALSE", "DISTINCT"}
