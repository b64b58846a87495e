"""Which expressions are equal to Spark, though written differently: ``a + b`` and ``b + a``.

Spark computes equal aggregates, and keeps their state, once; so must the plan.
"""

from __future__ import annotations

from dataclasses import replace

from ...dsl.ast import expressions as e
from ...dsl.ast.node import Name, Node
from ...dsl.ast.walk import rewrite
from ...dsl.format import sql

_EITHER_WAY = frozenset({"+", "*", "&", "|", "^", "=", "<=>", "AND", "OR"})
_TURNED = {">": "<", ">=": "<="}
_RENAMED = {"bool_and": "min", "bool_or": "max", "regr_count": "count"}
"""Aggregates that Spark replaces by others with the same arguments."""
_MIRRORED = {"regr_avgx": "regr_avgy", "regr_sxx": "regr_syy"}
"""Aggregates that equal others with their two arguments swapped."""


def canonical(expression: e.Expression) -> e.Expression:
    """Return the canonical form of all expressions that are equal to Spark.

    ``SUM(b * a) FILTER (WHERE n > 1)`` becomes ``SUM(a * b) FILTER (WHERE 1 < n)``, ``MEDIAN(x)``
    becomes ``PERCENTILE(x, 0.5)``, and ``COUNT(DISTINCT x)`` the set that is counted.
    """

    def change(node: Node) -> Node | None:
        if isinstance(node, e.Call):
            return _renamed(node)
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


def _renamed(call: e.Call) -> e.Call:
    name, arguments = call.name.text, tuple(canonical(a) for a in call.arguments)
    distinct = call.distinct
    if distinct and name == "count" and len(arguments) == 1:
        name, distinct = "collect_set", False
    if name == "median":
        name, arguments = "percentile", (*arguments, e.NumberLiteral(call.span, "0.5"))
    if name in _MIRRORED:
        name, arguments = _MIRRORED[name], arguments[::-1]
    condition = None if call.filter is None else canonical(call.filter)
    renamed = Name(call.name.span, _RENAMED.get(name, name))
    return replace(call, name=renamed, arguments=arguments, filter=condition, distinct=distinct)
