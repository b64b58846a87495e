"""The equalities and the bound in time that a join condition states.

Each side of a comparison is read as an event time plus a constant; anything else is left as a
residual condition, which Spark evaluates on the joined rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.walk import walk
from ...model.conditions import conjuncts
from ...model.intervals import interval_micros

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@dataclass(frozen=True, slots=True)
class Bounds:
    """``left_keys[i] = right_keys[i]``, and right time minus left time within [lower, upper]."""

    left_keys: tuple[e.Expression, ...]
    right_keys: tuple[e.Expression, ...]
    lower: int | None
    upper: int | None


def analyse(
    condition: e.Expression, left: str, right: str, is_time: Callable[[e.Expression], bool]
) -> Bounds:
    """Extract the keys and the time bound from a resolved condition over two aliases.

    ``is_time`` returns whether an expression is an event time column.
    """
    left_keys: list[e.Expression] = []
    right_keys: list[e.Expression] = []
    lower: int | None = None
    upper: int | None = None
    for operator, a, b in _comparisons(condition):
        sides = _aliases(a), _aliases(b)
        if sides == ({right}, {left}):
            operator, a, b = _FLIPPED[operator], b, a
        elif sides != ({left}, {right}):
            continue
        if operator == "=":
            left_keys.append(a)
            right_keys.append(b)
        a_offset, b_offset = _offset(a, is_time), _offset(b, is_time)
        if a_offset is None or b_offset is None:
            continue
        # left + a <op> right + b, so right - left <op'> a - b.
        bound = a_offset - b_offset
        if operator in ("<", "<=", "="):
            low = bound + 1 if operator == "<" else bound
            lower = low if lower is None else max(lower, low)
        if operator in (">", ">=", "="):
            high = bound - 1 if operator == ">" else bound
            upper = high if upper is None else min(upper, high)
    return Bounds(tuple(left_keys), tuple(right_keys), lower, upper)


def _comparisons(condition: e.Expression) -> Iterator[tuple[str, e.Expression, e.Expression]]:
    for part in conjuncts(condition):
        match part:
            case e.Between(_, operand, low, high, False):
                yield ">=", operand, low
                yield "<=", operand, high
            case e.Binary(_, operator, a, b) if operator in _FLIPPED:
                yield operator, a, b


def _aliases(expression: e.Expression) -> set[str]:
    return {n.parts[0].text for n in walk(expression) if isinstance(n, e.ColumnRef)}


def _offset(expression: e.Expression, is_time: Callable[[e.Expression], bool]) -> int | None:
    """Return the constant added to an event time, or None for another form."""
    if is_time(expression):
        return 0
    match expression:
        case e.Binary(_, "+" | "-" as operator, inner, e.Interval() as interval):
            base, length = _offset(inner, is_time), interval_micros(interval)
            if base is None or length is None:
                return None
            return base + length if operator == "+" else base - length
        case e.Binary(_, "+", e.Interval() as interval, inner):
            base, length = _offset(inner, is_time), interval_micros(interval)
            return None if base is None or length is None else base + length
    return None
