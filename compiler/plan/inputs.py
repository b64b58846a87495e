"""What reaches a stateful step, as its entry in the plan: a migration must not mistake other rows.

An entry names what is below (``from``), the conditions that rows passed (``where``), and what keys,
aggregates and columns are in terms of it, where that is not what they are called. A union below
gives several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from typing import Any, TypeAlias

from ...dsl.ast.expressions import Binary, ColumnRef, Expression
from ...dsl.diagnostics import InternalError
from ...dsl.format import sql
from ...dsl.walk import walk
from ..model import types
from ..model.conditions import conjuncts
from ..model.pipeline import Relation
from ..model.program_text import handler_lines
from ..model.programs import Operator, ProgramInput, columns_used
from ..model.same import canonical
from ..model.steps import Aggregate, Deduplicate, Join, JoinSide, Stateful, TopN
from .origins import Branch, Columns, Origins, reference, substitute

Document: TypeAlias = dict[str, Any]
Parts: TypeAlias = Mapping[str, Sequence[tuple[str, Expression]]]
"""Expressions over rows, by the part of the entry that tells of them, and by name."""


@singledispatch
def describe_input(step: Stateful, relation: Relation, origins: Origins) -> Document:
    """Return what reaches a step, as parts of its entry in the plan."""
    raise InternalError(f"no handler for {type(step).__name__}")


@describe_input.register
def describe_aggregate_input(step: Aggregate, relation: Relation, origins: Origins) -> Document:
    """Describe the rows that are grouped, and what the columns that come out are."""
    branches = origins.before(relation, step)
    parts: Parts = {
        "time": [] if step.window is None else _time(step.window.column.expression),
        "keys": [(key.name, key.value.expression) for key in step.keys],
        "aggregates": [(call.id, call.call) for call in step.calls],
    }
    ids = {sql(canonical(call.call)): call.id for call in step.calls}
    columns = {c.name: sql(canonical(c.value.expression)) for c in step.columns}
    return {
        "columns": {name: ids.get(text, text) for name, text in columns.items()},
        "input": [_entry(branch, parts) for branch in branches],
    }


@describe_input.register
def describe_deduplicate_input(step: Deduplicate, relation: Relation, origins: Origins) -> Document:
    """Describe the rows of which ids are remembered."""
    parts: Parts = {"keys": [(key.name, key.value.expression) for key in step.keys]}
    return {"input": [_entry(branch, parts) for branch in origins.before(relation, step)]}


@describe_input.register
def describe_top_n_input(step: TopN, relation: Relation, origins: Origins) -> Document:
    """Describe the rows that wait for their window to close."""
    parts: Parts = {
        "keys": [(name, reference(name)) for name in step.keys],
        "columns": [(name, reference(name)) for name in step.columns],
    }
    known = origins.types_before(relation, step)
    given = [known.get(name, types.UNKNOWN) for name in step.columns]
    return {
        "given": [str(type_) if types.is_known(type_) else None for type_ in given],
        "input": [_entry(branch, parts) for branch in origins.before(relation, step)],
    }


@describe_input.register
def describe_join_input(step: Join, relation: Relation, origins: Origins) -> Document:
    """Describe the rows of both sides, and what a pair must fulfil besides keys and bound."""
    sides = [_side(side, origins) for side in (step.left, step.right)]
    return {"also": list(_also(step, origins)), "sides": sides}


@describe_input.register
def describe_program_input(step: Operator, relation: Relation, origins: Origins) -> Document:
    """Describe the rows of each input, and what the handlers do with them."""
    return {
        "declared": step.declared,
        "statements": list(handler_lines(step)),
        "inputs": [
            _program_input(step, given, _program_rows(step, given, relation, origins))
            for given in step.inputs
        ],
    }


def _program_rows(
    step: Operator, given: ProgramInput, relation: Relation, origins: Origins
) -> tuple[Branch, ...]:
    """Return the rows of an input: a query that is a program may have left some of them out."""
    if relation.steps[0] is step:
        return origins.of(given.relation)
    return origins.before(relation, step, windows=False)


def _entry(branch: Branch, parts: Parts) -> Document:
    entry: Document = {"from": branch.below, "where": sorted(set(branch.where))}
    for part, named in parts.items():
        texts = {name: branch.text(expression) for name, expression in named}
        told = {n: text for n, text in texts.items() if text not in (n, sql(reference(n)))}
        if told:
            entry[part] = told
    return entry


def _side(side: JoinSide, origins: Origins) -> Document:
    qualified: Columns = {(side.alias, name): reference(name) for name in side.schema.names()}
    keys = [
        (sql(substitute(key.expression, qualified)), substitute(key.expression, qualified))
        for key in side.keys
    ]
    columns = [(name, reference(name)) for name in side.schema.names()]
    parts: Parts = {"keys": keys, "columns": columns}
    return {"input": [_entry(branch, parts) for branch in origins.of(side.relation)]}


def _program_input(step: Operator, given: ProgramInput, branches: Sequence[Branch]) -> Document:
    aliases: Columns = {(given.alias, name): reference(name) for name in given.schema.names()}
    keys = [
        (key.name, substitute(own.expression, aliases))
        for key, own in zip(step.keys, given.keys, strict=True)
    ]
    used = columns_used(step, given)
    return {
        "input": [
            # Which columns a program reads is nowhere else in the plan: all are told.
            _entry(branch, {"keys": keys})
            | {"columns": {name: branch.text(reference(name)) for name in used}}
            for branch in branches
        ]
    }


def _time(expression: Expression) -> list[tuple[str, Expression]]:
    return [(sql(expression), expression)]


def _also(step: Join, origins: Origins) -> Iterator[str]:
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
