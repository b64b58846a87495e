"""GROUP BY: which keys a block groups by, and whether its window is one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Node
from ....dsl.ast.walk import children
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types
from ...model.declared import DeclaredCall, UserAggregate
from ...model.functions import aggregate
from ...model.steps import WINDOW_STRUCTS, Key
from ...model.typed import Typed
from ..expressions.resolve import Clause, check
from ..scopes.scope import WINDOW_COLUMNS, BlockScope
from .columns import Item


@dataclass(frozen=True, slots=True)
class Grouped:
    """The keys of a block besides its window; ``complete`` is False when one could not be read."""

    keys: tuple[Key, ...]
    by_window: bool
    complete: bool


def resolve_keys(
    nodes: tuple[e.Expression, ...],
    items: tuple[Item, ...],
    scope: BlockScope,
    diagnostics: Diagnostics,
) -> Grouped:
    """Read GROUP BY; a key may be named by the alias of a select item, as in Spark."""
    keys: list[Key] = []
    by_window, complete = False, True
    for node in nodes:
        value = _key_value(node, items, scope, diagnostics)
        if value is None:
            complete = False
        elif is_window_part(scope, value.expression):
            by_window = True
            if scope.window is None and value.nullable:
                diagnostics.add(_optional_window(node))
                complete = False
            elif scope.window is None and all(key.name != WINDOW_STRUCTS[0] for key in keys):
                keys.append(_window_key(value))
        elif all(key.value.expression != value.expression for key in keys):
            keys.append(Key(_key_name(value, items, keys, scope), value))
    return Grouped(tuple(keys), by_window, complete)


def is_window_part(scope: BlockScope, expression: e.Expression) -> bool:
    """Return whether an expression is the start, the end or the time of the block's window."""
    return scope.window_at(expression) is not None


def unaliased(part: e.Expression) -> e.Expression:
    """Return the name of a window's part once rows are grouped by it."""
    if isinstance(part, e.Call):
        return replace(part, arguments=(unaliased(part.arguments[0]),))
    assert isinstance(part, e.ColumnRef)
    names = [name.text for name in part.parts]
    at = next(i for i, name in enumerate(names) if name in WINDOW_STRUCTS)
    return replace(part, parts=part.parts[at:])


def has_aggregate(node: Node) -> bool:
    """Return whether an expression contains an aggregate (inside OVER does not count)."""
    return any(True for _ in aggregate_calls(node))


def is_aggregate(node: Node) -> TypeGuard[e.Call]:
    """Return whether a node is a call of an aggregate over the group's rows."""
    return isinstance(node, e.Call) and node.over is None and aggregate(node.name.text) is not None


def aggregate_calls(node: Node) -> Iterator[e.Call]:
    """Yield the outermost aggregate calls, left to right."""
    if is_aggregate(node):
        yield node
        return
    if isinstance(node, DeclaredCall) and isinstance(node.function, UserAggregate):
        if node.call.over is None:
            yield node.call
        return
    for child in children(node):
        yield from aggregate_calls(child)


def _key_value(
    node: e.Expression, items: tuple[Item, ...], scope: BlockScope, diagnostics: Diagnostics
) -> Typed | None:
    if isinstance(node, e.NumberLiteral):
        diagnostics.add(_ordinal(node))
        return None
    if isinstance(node, e.Call) and node.name.text.lower() in ("rollup", "cube"):
        diagnostics.add(_several_groupings(node))
        return None
    alias = _aliased(node, items, scope)
    if alias is not None and not has_aggregate(alias.value.expression):
        return alias.value
    before = len(diagnostics)
    if _is_all(node, scope):
        diagnostics.add(_by_all(node))
        return None
    typed = check(node, scope, Clause("GROUP BY", aggregates=False), diagnostics)
    if len(diagnostics) > before:
        return None
    if not types.is_groupable(typed.type):
        diagnostics.add(_not_groupable(node, typed.type))
        return None
    return typed


def _aliased(node: e.Expression, items: tuple[Item, ...], scope: BlockScope) -> Item | None:
    """Return the item that a key names by its alias; a column of that name takes precedence."""
    if not isinstance(node, e.ColumnRef) or len(node.parts) != 1:
        return None
    name = node.parts[0].text.lower()
    is_column = any(r.schema.find(name) for r in scope.relations)
    if is_column or (scope.window is not None and name in WINDOW_COLUMNS):
        return None
    return next((item for item in items if item.name.lower() == name), None)


def _key_name(value: Typed, items: tuple[Item, ...], keys: list[Key], scope: BlockScope) -> str:
    """Return the name of a key after grouping: the column's, else its alias in the select list.

    Else its own text; a column with the window's name gets another one.
    """
    used = {key.name.lower() for key in keys}
    taken = used | set(WINDOW_STRUCTS)
    if isinstance(value.expression, e.ColumnRef):
        own = value.expression.parts[-1].text
        if own.lower() not in taken:
            return own
    for item in items:
        if item.value.expression == value.expression and item.name.lower() not in taken:
            return item.name
    if scope.window is not None:
        used.add(scope.window.struct)
    name = sql(value.expression)
    while name.lower() in used:
        name += "_"
    return name


def _window_key(part: Typed) -> Key:
    """Return the window of a joined side as a key; start, end and time are read from it.

    An inner join's windows are the same on both sides.
    """
    expression = part.expression
    if isinstance(expression, e.Call):
        expression = expression.arguments[0]
    else:
        assert isinstance(expression, e.ColumnRef)
        expression = replace(expression, parts=expression.parts[:-1])
    return Key(WINDOW_STRUCTS[0], Typed(expression, types.WINDOW, nullable=False))


def _optional_window(node: e.Expression) -> Diagnostic:
    return Diagnostic(
        codes.WINDOW_JOIN,
        f"`{sql(node)}` is NULL without a partner, and a group without a window never closes",
        Label(node.span),
        help="group by the window of the outer side; after a FULL JOIN there is none: aggregate "
        "each side by its window, and join the results",
    )


def _ordinal(node: e.NumberLiteral) -> Diagnostic:
    return Diagnostic(
        codes.GROUP_BY_FORM,
        "GROUP BY takes columns by name, not by position",
        Label(node.span),
        help="write the column: a position changes its meaning when the select list is edited",
    )


def _is_all(node: e.Expression, scope: BlockScope) -> bool:
    """Return whether a key is the word ALL, and no column of that name."""
    if not isinstance(node, e.ColumnRef) or [p.text.upper() for p in node.parts] != ["ALL"]:
        return False
    return all(relation.schema.find("all") is None for relation in scope.relations)


def _by_all(node: e.Expression) -> Diagnostic:
    return Diagnostic(
        codes.GROUP_BY_FORM,
        "GROUP BY takes its keys by name, not all of them at once",
        Label(node.span),
        help="write the keys: ALL changes its meaning when the select list is edited",
    )


def _several_groupings(node: e.Call) -> Diagnostic:
    return Diagnostic(
        codes.GROUP_BY_FORM,
        f"{node.name.text.upper()} means several groupings, but a stream has one",
        Label(node.span),
        help="write a stream for each grouping, and UNION ALL over them to combine them",
    )


def _not_groupable(node: e.Expression, type_: types.Type) -> Diagnostic:
    return Diagnostic(
        codes.GROUP_BY_FORM,
        f"a {type_} can't be a key",
        Label(node.span),
        help="group by a field or an element of it",
    )
