"""What reaches a stateful step, for its entry in the plan: a migration must not mistake other rows.

A branch names what is below, the conditions that rows passed, and what keys, aggregates and columns
are in terms of it, where that is not what they are called. A union below gives several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ...contracts import plan
from ...dsl.ast.expressions import Binary, ColumnRef, Expression
from ...dsl.format import sql
from ...dsl.walk import walk
from ..model.conditions import conjuncts
from ..model.pipeline import Relation
from ..model.programs import Operator, ProgramInput, columns_used
from ..model.same import canonical
from ..model.steps import Aggregate, Deduplicate, Join, JoinSide, TopN
from .origins import Branch, Columns, Origins, reference, substitute

Named: TypeAlias = Sequence[tuple[str, Expression]]
"""Expressions over rows, by name."""

Branches: TypeAlias = tuple[plan.Branch, ...]


def aggregate_input(step: Aggregate, relation: Relation, origins: Origins) -> Branches:
    """Return the rows that are grouped."""
    time = () if step.window is None else _time(step.window.column.expression)
    keys = [(key.name, key.value.expression) for key in step.keys]
    aggregates = [(call.id, call.call) for call in step.calls]
    return tuple(
        _branch(branch, time=time, keys=keys, aggregates=aggregates)
        for branch in origins.before(relation, step)
    )


def aggregate_columns(step: Aggregate) -> dict[str, str]:
    """Return what the columns are that come out of an aggregate."""
    ids = {sql(canonical(call.call)): call.id for call in step.calls}
    columns = {c.name: sql(canonical(c.value.expression)) for c in step.columns}
    return {name: ids.get(text, text) for name, text in columns.items()}


def deduplicate_input(step: Deduplicate, relation: Relation, origins: Origins) -> Branches:
    """Return the rows of which ids are remembered."""
    keys = [(key.name, key.value.expression) for key in step.keys]
    return tuple(_branch(branch, keys=keys) for branch in origins.before(relation, step))


def top_n_input(step: TopN, relation: Relation, origins: Origins) -> Branches:
    """Return the rows that wait for their window to close."""
    keys = [(name, reference(name)) for name in step.keys]
    columns = [(name, reference(name)) for name in step.columns]
    return tuple(
        _branch(branch, keys=keys, columns=columns) for branch in origins.before(relation, step)
    )


def side_input(side: JoinSide, origins: Origins) -> Branches:
    """Return the rows of a side of a join."""
    qualified: Columns = {(side.alias, name): reference(name) for name in side.schema.names()}
    keys = [
        (sql(substitute(key.expression, qualified)), substitute(key.expression, qualified))
        for key in side.keys
    ]
    columns = [(name, reference(name)) for name in side.schema.names()]
    return tuple(
        _branch(branch, keys=keys, columns=columns) for branch in origins.of(side.relation)
    )


def program_input(
    step: Operator, given: ProgramInput, relation: Relation, origins: Origins
) -> Branches:
    """Return the rows of an input of a program, with all columns that it reads.

    Which columns these are is nowhere else in the plan.
    """
    aliases: Columns = {(given.alias, name): reference(name) for name in given.schema.names()}
    keys = [
        (key.name, substitute(own.expression, aliases))
        for key, own in zip(step.keys, given.keys, strict=True)
    ]
    used = columns_used(step, given)
    return tuple(
        replace(
            _branch(branch, keys=keys),
            columns={name: branch.text(reference(name)) for name in used},
        )
        for branch in _program_rows(step, given, relation, origins)
    )


def _program_rows(
    step: Operator, given: ProgramInput, relation: Relation, origins: Origins
) -> tuple[Branch, ...]:
    """Return the rows of an input: a query that is a program may have left some of them out."""
    if relation.steps[0] is step:
        return origins.of(given.relation)
    return origins.before(relation, step, windows=False)


def _branch(
    branch: Branch,
    *,
    time: Named = (),
    keys: Named = (),
    aggregates: Named = (),
    columns: Named = (),
) -> plan.Branch:
    return plan.Branch(
        below=branch.below,
        where=tuple(sorted(set(branch.where))),
        time=_renamed(branch, time),
        keys=_renamed(branch, keys),
        aggregates=_renamed(branch, aggregates),
        columns=_renamed(branch, columns) or None,
    )


def _renamed(branch: Branch, named: Named) -> Mapping[str, str]:
    """Return what expressions are in terms of what is below, where that is not their name."""
    texts = {name: branch.text(expression) for name, expression in named}
    return {n: text for n, text in texts.items() if text not in (n, sql(reference(n)))}


def _time(expression: Expression) -> list[tuple[str, Expression]]:
    return [(sql(expression), expression)]


def also_required(step: Join, origins: Origins) -> Iterator[str]:
    """Yield the conditions of a join that are neither equal keys nor bounds of time."""
    equal = {
        sql(Binary(left.expression.span, "=", *pair))
        for left, right in zip(step.left.keys, step.right.keys, strict=True)
        for pair in (
            (left.expression, right.expression),
            (right.expression, left.expression),
        )
    }
    times = {(side.alias, side.event_time) for side in (step.left, step.right)}
    rows = origins.joined(step)
    for part in conjuncts(step.condition.expression):
        read = {
            tuple(name.text for name in node.parts)
            for node in walk(part)
            if isinstance(node, ColumnRef)
        }
        bounded = (step.lower, step.upper) != (None, None) and read == times
        if not bounded and sql(part) not in equal:
            yield rows.text(part)
