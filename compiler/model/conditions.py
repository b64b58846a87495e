"""The parts of conditions."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.ast.expressions import Binary, Expression


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """Yield the conjuncts of a condition, left to right."""
    if isinstance(condition, Binary) and condition.operator == "AND":
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition
