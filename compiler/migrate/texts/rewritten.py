"""Rewritten parts of a plan: the rows that reach an operator, and the types of its state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from ....contracts.plan import (
    Aggregate,
    AggregateCell,
    Aggregation,
    Branch,
    Column,
    Join,
    Operator,
    Program,
    ProgramCell,
    Side,
    TopN,
    aggregates_of,
    cells_of,
    keys_of,
    sides_of,
)

ToBranch = Callable[[Branch], Branch]
ToText = Callable[[str], str]
C = TypeVar("C", Column, AggregateCell)


def with_branches(operator: Operator, change: ToBranch) -> Operator:
    """Return an operator with other rows that reach it, through all of its inputs or sides."""
    match operator:
        case Join(sides=sides):
            return replace(
                operator, sides=tuple(replace(s, input=_all(s.input, change)) for s in sides)
            )
        case Program(inputs=inputs):
            return replace(
                operator,
                inputs=tuple(replace(one, input=_all(one.input, change)) for one in inputs),
            )
        case _:
            return replace(operator, input=_all(operator.input, change))


def _all(branches: tuple[Branch, ...], change: ToBranch) -> tuple[Branch, ...]:
    return tuple(change(branch) for branch in branches)


def with_texts(branch: Branch, change: ToText) -> Branch:
    """Return a branch with other conditions and expressions."""

    def named(texts: Mapping[str, str]) -> dict[str, str]:
        return {name: change(text) for name, text in texts.items()}

    return replace(
        branch,
        where=tuple(sorted(map(change, branch.where))),
        time=named(branch.time),
        keys=named(branch.keys),
        aggregates=named(branch.aggregates),
        columns=None if branch.columns is None else named(branch.columns),
    )


def types_in(operator: Operator) -> Iterator[str]:
    """Yield the types in an operator, of its state and its arguments."""
    for found in _types(operator):
        if found is not None:
            yield found


def _types(operator: Operator) -> Iterator[str | None]:
    for aggregate in aggregates_of(operator):
        yield from (cell.type for cell in aggregate.cells)
        yield from aggregate.given
    yield from (key.type for key in keys_of(operator))
    for side in sides_of(operator):
        yield from (column.type for column in (*side.keys, *side.columns))
    for cell in cells_of(operator):
        yield from (cell.type, cell.entry, cell.value)
    match operator:
        case TopN():
            yield from operator.given or ()
        case Program():
            yield from (column.type for column in operator.returns)


def with_types(operator: Operator, change: ToText) -> Operator:
    """Return an operator with other types of its state and its arguments."""

    def typed(columns: tuple[C, ...]) -> tuple[C, ...]:
        return tuple(replace(one, type=maybe(one.type)) for one in columns)

    def maybe(type_: str | None) -> str | None:
        return None if type_ is None else change(type_)

    def aggregate(one: Aggregate) -> Aggregate:
        return replace(one, cells=typed(one.cells), given=tuple(map(maybe, one.given)))

    def side(one: Side) -> Side:
        return replace(one, keys=typed(one.keys), columns=typed(one.columns))

    def cell(one: ProgramCell) -> ProgramCell:
        return replace(one, type=maybe(one.type), entry=maybe(one.entry), value=maybe(one.value))

    match operator:
        case Join(sides=sides):
            return replace(operator, sides=tuple(map(side, sides)))
        case Aggregation(keys=keys, aggregates=aggregates):
            return replace(operator, keys=typed(keys), aggregates=tuple(map(aggregate, aggregates)))
        case TopN(keys=keys, aggregates=aggregates, given=given):
            return replace(
                operator,
                keys=typed(keys),
                aggregates=tuple(map(aggregate, aggregates)),
                given=None if given is None else tuple(map(maybe, given)),
            )
        case Program(keys=keys, cells=cells, returns=returns):
            return replace(
                operator, keys=typed(keys), cells=tuple(map(cell, cells)), returns=typed(returns)
            )
        case _:
            return replace(operator, keys=typed(operator.keys))
