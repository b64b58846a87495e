"""Expressions in place of names: the expansion of a declared function's call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import rewrite, walk


def substituted(body: e.Expression, values: Mapping[str, e.Expression]) -> e.Expression:
    """Return a resolved body with names replaced by their values.

    A lambda in the body hides names; its parameters are renamed where they would capture a name in
    a value.
    """
    free = {head for value in values.values() for head in _heads(value)}
    return _substituted(body, values, free)


def _substituted(
    body: e.Expression, values: Mapping[str, e.Expression], free: set[str]
) -> e.Expression:
    def change(node: Node) -> Node | None:
        if isinstance(node, e.ColumnRef):
            return _in_place_of(node, values)
        if isinstance(node, e.Lambda):
            return _lambda(node, values, free)
        return None

    return rewrite(body, change)


def _in_place_of(node: e.ColumnRef, values: Mapping[str, e.Expression]) -> e.Expression:
    value = values.get(node.parts[0].text.lower())
    if value is None:
        return node
    rest = node.parts[1:]
    if isinstance(value, e.ColumnRef):
        return replace(value, parts=(*value.parts, *rest))
    for part in rest:
        value = e.FieldAccess(node.span, value, part)
    return value


def _lambda(node: e.Lambda, values: Mapping[str, e.Expression], free: set[str]) -> e.Lambda:
    own = {name.text.lower() for name in node.parameters}
    visible = {name: value for name, value in values.items() if name not in own}
    taken = free | own | _heads(node.body)
    parameters: list[Name] = []
    for name in node.parameters:
        text = name.text
        if text.lower() in free:
            while text.lower() in taken:
                text += "_"
            taken.add(text.lower())
            visible[name.text.lower()] = e.ColumnRef(name.span, (Name(name.span, text),))
        parameters.append(Name(name.span, text))
    return e.Lambda(node.span, tuple(parameters), _substituted(node.body, visible, free))


def _heads(node: Node) -> set[str]:
    return {ref.parts[0].text.lower() for ref in walk(node) if isinstance(ref, e.ColumnRef)}
