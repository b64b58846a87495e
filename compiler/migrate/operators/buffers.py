"""Buffers that Spark keeps in a form of its own: the functions that merge them.

The runtime lets the function itself merge them. It gets a call that represents the function: its
arguments, with values as NULL of their type.

    count(DISTINCT id)               collect_set(CAST(NULL AS STRING))
    percentile(v, array(0.5, 0.9))   percentile(CAST(NULL AS DOUBLE), array(0.5, 0.9))
"""

from __future__ import annotations

from collections.abc import Mapping

from ....contracts.plan import Aggregate
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Node
from ....dsl.ast.walk import children, walk
from ....dsl.format import sql
from ..texts.parsing import parsed_expression

WHOLE = "buf"
"""The only buffer of functions that define its form themselves."""

_NEUTRAL = frozenset({"array_contains", "array_max", "array_min", "size", "sort_array"})
"""Functions whose result does not depend on the order of a list."""

_BYTES = "STRING"
"""The type used for elements of unknown type, which are structs: stored like texts."""


def merging_call(aggregate: Aggregate) -> str | None:
    """Return a call of the function whose buffers an aggregate keeps; None if unknown.

    Elements with an order are sorted at the end, so they may be stored in any order.
    """
    call, given = _call(aggregate.id), aggregate.given
    if call is None or len(given) != len(call.arguments):
        return None
    name = call.name.text.lower()
    if name == "listagg":
        return f"collect_list(CAST(NULL AS {_BYTES}))"
    if call.distinct:
        name = aggregate.function
    arguments = [_argument(one, type_) for one, type_ in zip(call.arguments, given, strict=True)]
    known = [one for one in arguments if one is not None]
    return f"{name}({', '.join(known)})" if len(known) == len(arguments) else None


def shows_order(aggregate: Aggregate, columns: Mapping[str, str]) -> bool:
    """Whether the order of a list is visible; ``columns`` are those of its operator."""
    if aggregate.function not in ("array_agg", "collect_list"):
        return False
    trees = [tree for text in columns.values() if (tree := parsed_expression(text)) is not None]
    wanted = aggregate.id
    is_read = any(_is_call(node, wanted) for tree in trees for node in walk(tree))
    return not is_read or any(_is_bare(tree, wanted) for tree in trees)


def _argument(node: e.Expression, type_: str | None) -> str | None:
    if not any(isinstance(one, e.ColumnRef) for one in walk(node)):
        return sql(node)
    if type_ is None and isinstance(node, e.Call) and node.name.text in ("struct", "named_struct"):
        type_ = _BYTES
    return None if type_ is None else f"CAST(NULL AS {type_})"


def _is_bare(node: Node, wanted: str) -> bool:
    """Whether a call is used outside a function that ignores the order."""
    if _is_call(node, wanted):
        return True
    neutral = isinstance(node, e.Call) and node.name.text.lower() in _NEUTRAL
    return any(
        _is_bare(child, wanted)
        for child in children(node)
        if not (neutral and _is_call(child, wanted))
    )


def _is_call(node: Node, wanted: str) -> bool:
    return isinstance(node, e.Call) and sql(node) == wanted


def _call(text: str) -> e.Call | None:
    tree = parsed_expression(text)
    return tree if isinstance(tree, e.Call) else None
