"""What an operator computes, as the texts in its plan."""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts.plan import (
    Branch,
    Join,
    Operator,
    Program,
    TopN,
    aggregates_of,
    branches_of,
    columns_of,
)
from ....dsl.ast.expressions import Call, Expression
from ....dsl.ast.walk import walk
from .lines import expressions_in
from .parsing import parsed_condition, parsed_expression


def calls(operator: Operator, function: str) -> bool:
    """Whether anything that an operator computes calls a Python function."""
    return any(
        isinstance(node, Call) and node.name.text.lower() == function.lower()
        for tree in _trees(operator)
        for node in walk(tree)
    )


def texts(operator: Operator) -> Iterator[tuple[str, str]]:
    """Yield the expressions and statements of an operator, each with its part."""
    for aggregate in aggregates_of(operator):
        if aggregate.filter is not None:
            yield "aggregates", aggregate.filter
    yield from (("columns", text) for text in columns_of(operator).values())
    for branch in branches_of(operator):
        yield from _of_branch(branch)
    match operator:
        case Join():
            yield from (("also", text) for text in operator.also or ())
        case TopN():
            yield from (("order", text) for text in operator.order)
        case Program():
            yield from (("statements", line) for line in operator.statements or ())


def trees_of(part: str, text: str) -> tuple[Expression, ...] | None:
    """Return the expressions in a text of `texts`; None of one that can't be read."""
    match part:
        case "statements":
            return expressions_in(text)
        case "where":
            found = parsed_condition(text)
            return None if found is None else (found[1],)
        case "order":
            text = text.removesuffix(" ASC").removesuffix(" DESC")
    tree = parsed_expression(text)
    return None if tree is None else (tree,)


def _of_branch(branch: Branch) -> Iterator[tuple[str, str]]:
    yield from (("where", text) for text in branch.where)
    yield from (("time", text) for text in branch.time.values())
    yield from (("keys", text) for text in branch.keys.values())
    yield from (("aggregates", text) for text in branch.aggregates.values())
    yield from (("columns", text) for text in (branch.columns or {}).values())


def _trees(operator: Operator) -> Iterator[Expression]:
    for part, text in texts(operator):
        # Spark calls no Python function in a program: its statements have none.
        if part != "statements":
            yield from trees_of(part, text) or ()
    for aggregate in aggregates_of(operator):
        yield from _expression(aggregate.id)
    if isinstance(operator, Join):
        yield from _expression(operator.condition)
        for key in (key for side in operator.sides for key in side.keys):
            yield from _expression(key.name)


def _expression(text: str) -> Iterator[Expression]:
    if (found := parsed_expression(text)) is not None:
        yield found
