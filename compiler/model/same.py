"""Which expressions are one to Spark, though written differently: ``a + b`` and ``b + a``.

Spark computes, and keeps the state of, equal aggregates once; so must the plan.
"""

from __future__ import annotations

from dataclasses import replace

from ...dsl.ast import expressions as e
from ...dsl.ast.node import Node
from ...dsl.format import sql
from ...dsl.walk import rewrite

_EITHER_WAY = frozenset({"+", "*", "&", "|", "^", "=", "<=>", "AND", "OR"})
_TURNED = {">": "<", ">=": "<="}


def canonical(expression: e.Expression) -> e.Expression:
    """Return the one form of all expressions that Spark takes for the same.

    ``SUM(b * a) FILTER (WHERE n > 1)`` becomes ``SUM(a * b) FILTER (WHERE 1 < n)``.
    """

    def change(node: Node) -> Node | None:
        if not isinstance(node, e.Binary):
            return None
        left, right = canonical(node.left), canonical(node.right)
        operator = node.operator
        if operator in _TURNED:
            operator, left, right = _TURNED[operator], right, left
        elif operator in _EITHER_WAY and sql(right) < sql(left):
            left, right = right, left
        return replace(node, operator=operator, left=left, right=right)

    return rewrite(expression, change)
