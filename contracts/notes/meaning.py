"""What the state of a query means: its output mode, and what defines it in its operators."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ..json_records import Record
from ..plan import (
    Bound,
    Column,
    Deduplication,
    Join,
    Operator,
    Plan,
    Program,
    ProgramCell,
    Query,
    Timer,
    TopN,
    Use,
    Window,
    aggregates_of,
    window_of,
)
from ..records import dataclass


@dataclass(frozen=True, slots=True)
class AggregateMeaning(Record):
    """An aggregate in use: its id, and the types of its cells."""

    id: str
    cells: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class OperatorMeaning(Record):
    """The parts of an operator that its state depends on; those that its kind lacks are None.

    ``waiting`` are the columns of a program's inputs, identified by position: the name of an input
    is not part of a waiting row.
    """

    id: str
    kind: str
    window: Window | None = None
    keys: tuple[Column, ...] | None = None
    join: str | None = None
    condition: str | None = None
    bound: Bound | None = None
    within: str | None = None
    rows: tuple[str, ...] | None = None
    ordered: bool | None = None
    cells: tuple[ProgramCell, ...] | None = None
    timers: tuple[Timer, ...] | None = None
    handlers: str | None = None
    aggregates: tuple[AggregateMeaning, ...] | None = None
    columns: tuple[tuple[Column, ...], ...] | None = None
    waiting: tuple[tuple[Column, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class QueryMeaning(Record):
    """A query's output mode, and its operators from the sink up."""

    FORMAT: ClassVar[int] = 1

    output_mode: str
    operators: tuple[OperatorMeaning, ...]

    def without_columns(self) -> QueryMeaning:
        """Return the same without the columns of joins."""
        return replace(self, operators=tuple(replace(one, columns=None) for one in self.operators))


def meaning_of(plan: Plan, query: Query) -> QueryMeaning:
    """Return what the state of a query of a plan means."""
    found = (_operator(plan.operators[use.id], use) for use in query.operators)
    return QueryMeaning(query.output_mode, tuple(found))


def _operator(operator: Operator, use: Use) -> OperatorMeaning:
    shared = OperatorMeaning(
        operator.id,
        operator.KIND,
        window=window_of(operator),
        keys=None if isinstance(operator, Join) else operator.keys,
        aggregates=_aggregates(operator, use),
        columns=use.columns,
        waiting=None if use.waiting is None else tuple(use.waiting.values()),
    )
    match operator:
        case Join(join=join, condition=condition, bound=bound):
            return replace(shared, join=join, condition=condition, bound=bound)
        case Deduplication(within=within):
            return replace(shared, within=within)
        case TopN(rows=rows):
            return replace(shared, rows=rows)
        case Program():
            return replace(
                shared,
                ordered=operator.ordered,
                cells=operator.cells,
                timers=operator.timers,
                handlers=operator.handlers,
            )
    return shared


def _aggregates(operator: Operator, use: Use) -> tuple[AggregateMeaning, ...] | None:
    if use.aggregates is None:
        return None
    known = {one.id: one for one in aggregates_of(operator)}
    return tuple(
        AggregateMeaning(id_, tuple(cell.type for cell in known[id_].cells))
        for id_ in use.aggregates
    )
