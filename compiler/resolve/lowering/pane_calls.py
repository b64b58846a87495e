"""Aggregates of a window with panes: their update by a row, and their current values.

Rows are handled in order of arrival, so that an order-dependent aggregate keeps its order:

    MAX_BY(x, ts)   SET `max_by(x, ts)` =
                      greatest(`max_by(x, ts)`, named_struct('by', ts, 'value', x))
"""

from __future__ import annotations

from collections.abc import Callable

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.reports.diagnostics import Diagnostic
from ...model import types as t
from ...model.programs import Cell, CellKind, ProgramStatement, SetCell
from ...model.same import canonical
from ...model.typed import Typed
from ..expressions.typing import FoundAggregate
from ..foreign.not_built import not_built
from . import builders as parts
from .frames import AGGREGATES, RowsCall, advanced, running
from .program_items import has_type, no_type

_BY_ORDER = {"min_by": "least", "max_by": "greatest"}
_BY_ARRIVAL = frozenset({"first_value", "last_value"})
"""Aggregates built by row order in ordered programs; panes build them by event time."""

RowValue = Callable[[e.Expression], e.Expression]
"""Converts an expression over a row for the row's handler."""


@dataclass(frozen=True, slots=True)
class PaneCall:
    """An aggregate: its cells, its value once they are up to date, the steps that update them."""

    cells: tuple[Cell, ...]
    value: Typed
    advance: Callable[[RowValue], tuple[ProgramStatement, ...]]


def pane_call(found: FoundAggregate, id_: str) -> PaneCall | Diagnostic:
    """Return an aggregate whose cells begin with its id, or why panes can't have it."""
    form = canonical(found.call)
    assert isinstance(form, e.Call)
    name = form.name.text
    value = result_of(found)
    for type_ in (*found.argument_types, value.type):
        if not has_type(Typed(found.call, type_)):
            return no_type(found.call)
    if name in _BY_ORDER and t.is_orderable(found.argument_types[0]):
        return _by_order(found, id_, value)
    if name not in AGGREGATES - _BY_ARRIVAL:
        there_are = ", ".join(sorted(n.upper() for n in (AGGREGATES | _BY_ORDER.keys())))
        called = found.function.name
        return not_built(f"`{called}` in panes", found.call.span, f"there are {there_are}")
    call = RowsCall(id_, name, _argument(found), value.type, value.nullable, found.call.span)
    so_far = running(call)

    def advance(of_row: RowValue) -> tuple[ProgramStatement, ...]:
        given = None if call.value is None else of_row(call.value.expression)
        return advanced(call, so_far.cells, given)

    return PaneCall(so_far.cells, so_far.value, advance)


def result_of(found: FoundAggregate) -> Typed:
    """Return a call of an aggregate with the type of its result."""
    function = found.function
    return Typed(found.call, function.result(found.argument_types), function.nullable)


def _by_order(found: FoundAggregate, id_: str, value: Typed) -> PaneCall:
    span, (argument, by) = found.call.span, found.call.arguments
    given, order = (Typed(x, y) for x, y in zip((argument, by), found.argument_types, strict=True))
    pair = parts.struct(span, [("by", order), ("value", given)])
    # A struct built from columns is never NULL.
    is_made = isinstance(by, e.Call) and by.name.text in ("struct", "named_struct")
    known = () if is_made else (parts.is_known(by),)
    row = _where(found.call, known, pair.expression)
    cell = Cell(id_, CellKind.VALUE, pair.type)
    extreme = _BY_ORDER[found.call.name.text]

    def advance(of_row: RowValue) -> tuple[ProgramStatement, ...]:
        new = parts.call(span, extreme, parts.cell(span, id_), of_row(row))
        return (SetCell(id_, Typed(new, pair.type)),)

    return PaneCall((cell,), Typed(parts.cell(span, id_, "value"), value.type), advance)


def _argument(found: FoundAggregate) -> Typed | None:
    """Return a row's argument of an aggregate, NULL if it does not count; None for COUNT(*)."""
    call = found.call
    first = call.arguments[0]
    given: Typed | None = None
    if not isinstance(first, e.Star):
        given = Typed(first, found.argument_types[0])
    several = len(call.arguments) > 1
    if not several and call.filter is None:
        return given
    known = tuple(parts.is_known(argument) for argument in call.arguments if several)
    value = given or Typed(e.BooleanLiteral(call.span, True), t.BOOLEAN)
    return Typed(_where(call, known, value.expression), value.type)


def _where(call: e.Call, known: tuple[e.Expression, ...], value: e.Expression) -> e.Expression:
    """Return a value for rows where FILTER and all of ``known`` are true, NULL for others."""
    conditions = known if call.filter is None else (call.filter, *known)
    condition = parts.all_of(conditions)
    if condition is None:
        return value
    when = e.When(call.span, condition.expression, value)
    return e.Case(call.span, None, (when,), None)
