"""Generic traversal of syntax trees: nodes have no traversal of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import TypeVar, cast

from .node import Node

N = TypeVar("N", bound=Node)


_FIELD_NAMES: dict[type[Node], tuple[str, ...]] = {}


def _field_names(kind: type[Node]) -> tuple[str, ...]:
    """Return the fields of a node class that hold what was written, without spans."""
    found = _FIELD_NAMES.get(kind)
    if found is None:
        found = tuple(f.name for f in fields(kind) if f.name not in ("span", "value_span"))
        _FIELD_NAMES[kind] = found
    return found


def children(node: Node) -> list[Node]:
    """Return the direct children of a node in source order."""
    found: list[Node] = []
    for name in _field_names(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found.extend(item for item in value if isinstance(item, Node))
    return found


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything below it, parents first."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def rewrite(node: N, change: Callable[[Node], Node | None]) -> N:
    """Return the tree with ``change(x)`` in place of each node for which it is not None.

    Parents are asked first; what ``change`` returns is not entered.
    """
    changed = change(node)
    if changed is not None:
        return cast(N, changed)
    updates: dict[str, object] = {}
    for name in _field_names(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            new: object = rewrite(value, change)
            if new is not value:
                updates[name] = new
        elif isinstance(value, tuple) and value and isinstance(value[0], Node):
            items = tuple(rewrite(item, change) for item in value)
            if any(a is not b for a, b in zip(items, value, strict=True)):
                updates[name] = items
    return replace(node, **updates) if updates else node  # type: ignore[arg-type]


def dump(node: Node, indent: str = "") -> str:
    """Return the tree as indented text without spans, one scalar field or node per line."""
    lines = [f"{indent}{type(node).__name__}"]
    for name in _field_names(type(node)):
        lines.extend(_dump_field(name, getattr(node, name), indent + "  "))
    return "\n".join(lines)


def _dump_field(name: str, value: object, indent: str) -> Iterator[str]:
    if isinstance(value, Node):
        if type(value).__name__ == "Name":
            yield f"{indent}{name}: {value}"
        else:
            yield f"{indent}{name}:"
            yield dump(value, indent + "  ")
    elif isinstance(value, tuple) and value and isinstance(value[0], Node):
        yield f"{indent}{name}:"
        for item in value:
            yield dump(cast(Node, item), indent + "  ")
    elif value is not None and value != () and value is not False:
        yield f"{indent}{name}: {value!r}"
