"""Aggregates over the rows of a frame that the kernel keeps up to date as rows come and go.

    SUM(x)        rolling(rows, sum(x))
    AVG(x)        rolling(rows, avg(x))

They are Spark's own, over the fields of a row. Only these whose parts can be merged are; others,
such as VAR_POP and MEDIAN, are computed from the list of rows (``frame_values``), which says what
these are, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ...model import types as t
from ...model.typed import Typed
from . import builders as parts
from .frames import RowsCall, lowered

_SUMS = frozenset({"sum", "avg"})
_BY_PLACE = {"first_value": "first", "last_value": "last"}
_OTHERS = frozenset({"count", "min", "max", *_BY_PLACE})

_LONGEST_SUMMED = 28
"""Digits of a decimal whose sums, of any part of the rows, are in range."""


def can_roll(call: RowsCall) -> bool:
    """Return whether an aggregate over some rows can be merged from aggregates over their parts."""
    if call.lower is not None:
        return all(can_roll(one.call) for one in call.parts)
    if call.value is None:
        return True
    if call.function in _SUMS:
        return _sums_in_range(call.given)
    return call.function in _OTHERS


def _sums_in_range(type_: t.Type) -> bool:
    if isinstance(type_, t.Decimal):
        return type_.precision <= _LONGEST_SUMMED
    return type_ in (t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.FLOAT, t.DOUBLE)


def rolled(call: RowsCall, rows: e.Expression, field: str | None) -> Typed:
    """Return the value of an aggregate that can be merged; ``field`` holds a row's argument."""
    given = None if field is None else e.ColumnRef(call.span, (Name(call.span, field),))
    return Typed(_rolled(call, rows, given), call.type, call.nullable)


def _rolled(call: RowsCall, rows: e.Expression, given: e.Expression | None) -> e.Expression:
    if call.lower is not None:
        found = {one.native: _rolled(one.call, rows, one.of(given)) for one in call.parts}
        return lowered(call.lower, found)
    span = call.span
    function = _BY_PLACE.get(call.function, call.function)
    return parts.call(span, "rolling", rows, parts.call(span, function, *_arguments(call, given)))


def _arguments(call: RowsCall, given: e.Expression | None) -> Sequence[e.Expression]:
    if given is None:
        return (e.Star(call.span),)
    return (given, e.BooleanLiteral(call.span, True)) if call.skips else (given,)
