"""The event time of an operator's output, for windows, joins and operators after it.

A column of RETURNS is one if each EMIT sets it to the event time of the current row, or to the
instant of the event-time timer that fired: then no row is older than the watermark at the time its
input rows were handled. The values emitted by a Python class are unknown: there the column with the
name of an input's event time is one, and a running job checks that no value is older than that.
"""

from __future__ import annotations

from dataclasses import replace

from ....dsl.ast.expressions import ColumnRef, Expression
from ...model import types as t
from ...model.programs import Emit, Handler, Operator, statements
from ...model.reads import InstantRef
from ...model.schema import Behind, Schema
from ..scopes.lateness import behind_timers


def with_event_time(operator: Operator) -> Operator:
    """Return an operator whose first such column has the watermark of its slowest input."""
    delays = [
        field.watermark
        for given in operator.inputs
        for field in given.schema
        if field.name == given.event_time and field.watermark is not None
    ]
    if not delays:
        return operator
    slowest = max(delays, key=lambda delay: delay.micros)
    place = _by_name(operator) if operator.python is not None else _by_emits(operator)
    if place is None:
        return operator
    fields = list(operator.returns.fields)
    fields[place] = replace(fields[place], watermark=slowest, behind=_behind(operator))
    return replace(operator, returns=Schema(tuple(fields)))


def _behind(operator: Operator) -> Behind | None:
    """Return why emitted rows may be far behind the watermark."""
    for given in operator.inputs:
        time = given.schema.find(given.event_time) if given.event_time is not None else None
        if time is not None and time.behind is not None:
            return time.behind
    return None if operator.python is not None else behind_timers(operator, _timers(operator))


def _timers(operator: Operator) -> set[str]:
    """Return the timers whose instants are emitted."""
    return {
        handler.name
        for handler in operator.handlers
        if handler.is_timer and any(isinstance(one, Emit) for one in statements(handler.body))
    }


def _by_name(operator: Operator) -> int | None:
    names = {given.event_time.lower() for given in operator.inputs if given.event_time is not None}
    for place, field in enumerate(operator.returns):
        if field.type == t.TIMESTAMP and field.name.lower() in names:
            return place
    return None


def _by_emits(operator: Operator) -> int | None:
    emits = [
        (handler, one)
        for handler in operator.handlers
        for one in statements(handler.body)
        if isinstance(one, Emit)
    ]
    for place, field in enumerate(operator.returns):
        given = [(h, one.values[place].expression) for h, one in emits]
        if field.type != t.TIMESTAMP or not given:
            continue
        if all(_is_time(operator, handler, value) for handler, value in given):
            return place
    return None


def _is_time(operator: Operator, handler: Handler, value: Expression) -> bool:
    if handler.is_timer:
        timer = next(timer for timer in operator.timers if timer.name == handler.name)
        return isinstance(value, InstantRef) and len(value.parts) == 1 and not timer.processing
    given = next(given for given in operator.inputs if given.alias == handler.name)
    names = [part.text for part in getattr(value, "parts", ())]
    plain = type(value) is ColumnRef and given.event_time is not None
    return plain and names in ([given.event_time], [given.alias, given.event_time])
