"""Columns that an aggregate computes for the expressions after it, under readable names.

A model names such a column by what it computes: `count(departure_delay)`. The next select drops it,
so a script may call it `count_departure_delay`. Keys keep their names: they are in the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...dsl.ast.expressions import Call, ColumnRef, Expression, Lambda, Star
from ...dsl.ast.node import Name, Node
from ...dsl.ast.walk import rewrite, walk
from ...dsl.format.words import identifier
from ..model.pipeline import Relation
from ..model.steps import Aggregate, Column, Filter, Project, Step


def readable(relation: Relation) -> tuple[Step, ...]:
    """Return the steps of a relation with readable names for columns that only they can see."""
    steps = list(relation.steps)
    for place, step in enumerate(steps):
        if isinstance(step, Aggregate):
            steps[place:] = _renamed(step, steps[place + 1 :], set(relation.schema.names()))
    return tuple(steps)


def _renamed(step: Aggregate, after: Sequence[Step], shown: set[str]) -> tuple[Step, ...]:
    last = next((i for i, one in enumerate(after) if isinstance(one, Project)), None)
    if last is None or not all(isinstance(one, Filter) for one in after[:last]):
        return (step, *after)
    bound = {
        name.text.lower()
        for one in after[: last + 1]
        for expression in _expressions(one)
        for node in walk(expression)
        if isinstance(node, Lambda)
        for name in node.parameters
    }
    names = _names(step, shown, bound)
    columns = tuple(replace(c, name=names.get(c.name, c.name)) for c in step.columns)
    reads = tuple(_reading(one, names) for one in after[: last + 1])
    return (replace(step, columns=columns), *reads, *after[last + 1 :])


def _names(step: Aggregate, shown: set[str], bound: set[str]) -> Mapping[str, str]:
    """Return the new name of each unnamed column; lambdas have ``bound`` some names."""
    taken = bound | {name.lower() for name in shown}
    taken |= {key.name.lower() for key in step.keys}
    taken |= {column.name.lower() for column in step.columns}
    found: dict[str, str] = {}
    for column in step.columns:
        if column.name in shown or identifier(column.name) == column.name:
            continue
        words = "_".join(_words(column.value.expression)).lower()
        name, number = words, 1
        while name in taken or identifier(name) != name:
            number += 1
            name = f"{words}_{number}"
        taken.add(name)
        found[column.name] = name
    return found


def _words(expression: Expression) -> Iterator[str]:
    for node in walk(expression):
        match node:
            case Call():
                yield node.name.text
            case ColumnRef():
                yield from (part.text for part in node.parts if part.text.isidentifier())
            case Star():
                yield "rows"


def _expressions(step: Step) -> Iterator[Expression]:
    match step:
        case Filter(condition):
            yield condition.expression
        case Project(columns):
            yield from (column.value.expression for column in columns)


def _reading(step: Step, names: Mapping[str, str]) -> Step:
    match step:
        case Filter(condition):
            expression = _with_names(condition.expression, names)
            return Filter(replace(condition, expression=expression))
        case Project(columns):
            return Project(tuple(_column(column, names) for column in columns))
    return step


def _column(column: Column, names: Mapping[str, str]) -> Column:
    expression = _with_names(column.value.expression, names)
    return replace(column, value=replace(column.value, expression=expression))


def _with_names(expression: Expression, names: Mapping[str, str]) -> Expression:
    def change(node: Node) -> Node | None:
        if isinstance(node, ColumnRef) and node.parts[0].text in names:
            first = Name(node.parts[0].span, names[node.parts[0].text])
            return replace(node, parts=(first, *node.parts[1:]))
        return None

    return rewrite(expression, change)
