"""Parts that several kinds of operators have; empty for kinds that have none."""

from __future__ import annotations

from collections.abc import Mapping

from .operators import (
    Aggregate,
    Aggregation,
    Deduplication,
    Join,
    Operator,
    Program,
    ProgramCell,
    ProgramInput,
    Side,
    Timer,
    TopN,
)
from .values import Branch, Column, Window

_WINDOW = "window"
_TAKEN = ("key", "value", "position", "written", "at", "number")
"""The columns that entries and waiting rows of a program have besides their keys."""


def keys_of(operator: Operator) -> tuple[Column, ...]:
    """Return the keys of the state of an operator; the sides of a join have their own."""
    return () if isinstance(operator, Join) else operator.keys


def window_of(operator: Operator) -> Window | None:
    """Return the window of an operator; the sides of a join have their own."""
    return operator.window if isinstance(operator, Aggregation | Program) else None


def aggregates_of(operator: Operator) -> tuple[Aggregate, ...]:
    """Return the aggregates whose buffers are the state of an operator."""
    return operator.aggregates if isinstance(operator, Aggregation | TopN) else ()


def columns_of(operator: Operator) -> Mapping[str, str]:
    """Return the output columns of an aggregate."""
    return (operator.columns or {}) if isinstance(operator, Aggregation) else {}


def sides_of(operator: Operator) -> tuple[Side, ...]:
    """Return the sides of a join."""
    return operator.sides if isinstance(operator, Join) else ()


def inputs_of(operator: Operator) -> tuple[ProgramInput, ...]:
    """Return the inputs of a program."""
    return operator.inputs if isinstance(operator, Program) else ()


def cells_of(operator: Operator) -> tuple[ProgramCell, ...]:
    """Return the cells of a program."""
    return operator.cells if isinstance(operator, Program) else ()


def timers_of(operator: Operator) -> tuple[Timer, ...]:
    """Return the timers of a program."""
    return operator.timers if isinstance(operator, Program) else ()


def branches_of(operator: Operator) -> tuple[Branch, ...]:
    """Return the rows that reach an operator, through all of its inputs or sides."""
    match operator:
        case Join(sides=several):
            return tuple(branch for one in several for branch in one.input)
        case Program(inputs=several):
            return tuple(branch for one in several for branch in one.input)
        case _:
            return operator.input


def clock_of(operator: Operator) -> str | None:
    """Return what in an operator depends on the time at which it runs; None if nothing does."""
    for timer in timers_of(operator):
        if timer.time == "processing":
            return f"timer `{timer.id}`"
    for cell in cells_of(operator):
        if cell.ttl is not None:
            return f"the TTL of `{cell.id}`"
    return None


def key_column(operator: Operator, name: str) -> str:
    """Return the name of a key's column in a savepoint, whose tables have other columns too."""
    match operator:
        case Program():
            taken = name.lower() in _TAKEN
        case Join() | Deduplication():
            taken = False
        case _:
            taken = window_of(operator) is not None and name.lower() == _WINDOW
    return f"key.{name}" if taken else name
