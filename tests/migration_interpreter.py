"""Migrations of groups carried out in plain Python, by the document that the runtime is given.

Groups are rows: keys by name, ``window`` with its ends in microseconds, cells by id. Values are
Python's, so types and casts play no part here. Buffers in Spark's own form are sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from program_interpreter import value
from streamc.contracts.migration import OperatorChange, WindowChange
from streamc.dsl.ast import expressions as e
from streamc.dsl.ast.node import Name, Node
from streamc.dsl.ast.walk import rewrite
from streamc.dsl.parsing.parse import parse_expression
from streamc.dsl.reports.source import SourceFile, Span

Group = dict[str, Any]

_NOWHERE = Span(0, 0)


def _known(values: Iterable[Any]) -> list[Any]:
    return [one for one in values if one is not None]


def _sum(values: list[Any]) -> Any:
    found = _known(values)
    return sum(found[1:], found[0]) if found else None


_AGGREGATES: dict[str, Callable[[list[Any]], Any]] = {
    "sum": _sum,
    "min": lambda values: min(_known(values), default=None),
    "max": lambda values: max(_known(values), default=None),
    "bool_and": lambda values: all(_known(values)),
    "bool_or": lambda values: any(_known(values)),
    "any": lambda values: next(iter(_known(values)), None),
    "collect_list": list,
    "buffers": lambda values: frozenset().union(*values),
}


@cache
def parsed(text: str) -> e.Expression:
    tree, diagnostics = parse_expression(SourceFile("expression", text))
    assert tree is not None and not len(diagnostics), text
    return tree


def migrate(change: OperatorChange, groups: list[Group]) -> list[Group]:
    """Return the groups of the new version."""
    made = []
    for group in groups:
        if change.where is not None and _evaluated(change.where, group) is not True:
            continue
        new = {key.name: _evaluated(key.expr, group) for key in change.keys}
        new |= {cell.id: _evaluated(cell.expr, group) for cell in change.cells}
        made += [{**new, **window} for window in _windows(change.window, group)]
    return _merged(change, made) if change.group else made


def _windows(said: WindowChange | None, group: Group) -> list[Group]:
    """Return the windows that a group goes into, nothing for one without."""
    if said is None:
        return [{}]
    found = _evaluated(said.expr, group)
    return [{"window": one} for one in (found if said.several else [found])]


def identity(change: OperatorChange, group: Group) -> tuple[Any, ...]:
    """Return what identifies a group: keys, and the window if it has one."""
    names = sorted(key.name for key in change.keys)
    ends = tuple(group["window"].values()) if change.window is not None else ()
    return (*(group[name] for name in names), *ends)


def _merged(change: OperatorChange, groups: list[Group]) -> list[Group]:
    together = defaultdict(list)
    for group in groups:
        together[identity(change, group)].append(group)
    return [
        {**same[0], **{c.id: _merge(c.merge, c.id, same) for c in change.cells}}
        for same in together.values()
    ]


def _merge(merge: str | None, id_: str, groups: list[Group]) -> Any:
    assert merge is not None
    if merge in _AGGREGATES:
        return _AGGREGATES[merge]([group[id_] for group in groups])
    tree = parsed(merge)
    if isinstance(tree, e.Call) and tree.name.text == "aggregate":
        return _folded(tree, groups)
    return value(*_without_aggregates(tree, groups))


def _folded(call: e.Call, groups: list[Group]) -> Any:
    """Return what ``aggregate(collect_list(…), start, merge, finish)`` gives."""
    items, start, merge, finish = call.arguments
    assert isinstance(merge, e.Lambda) and isinstance(finish, e.Lambda)
    found = value(start, {})
    for item in value(*_without_aggregates(items, groups)):
        names = [parameter.text for parameter in merge.parameters]
        found = value(merge.body, dict(zip(names, (found, item), strict=True)))
    return value(finish.body, {finish.parameters[0].text: found})


def _without_aggregates(tree: e.Expression, groups: list[Group]) -> tuple[e.Expression, Group]:
    """Return an expression with names in place of aggregates, and what these names stand for."""
    names: Group = {}

    def change(node: Node) -> Node | None:
        if not isinstance(node, e.Call):
            return None
        function, name = node.name.text, f"found {len(names)}"
        rows = [[value(argument, group) for argument in node.arguments] for group in groups]
        if function in _AGGREGATES:
            names[name] = _AGGREGATES[function]([row[0] for row in rows])
        elif function in ("max_by", "min_by"):
            choose = max if function == "max_by" else min
            ordered = [row for row in rows if row[1] is not None]
            names[name] = choose(ordered, key=lambda row: row[1])[0] if ordered else None
        else:
            return None
        return e.ColumnRef(_NOWHERE, (Name(_NOWHERE, name),))

    return rewrite(tree, change), names


def _evaluated(text: str, group: Group) -> Any:
    def change(node: Node) -> Node | None:
        match node:
            # Instants are numbers here.
            case e.Call(_, Name(_, "unix_micros" | "timestamp_micros"), (inner,)):
                return rewrite(inner, change)
            case e.Call(_, Name(_, "upper"), (inner,)):
                return e.StringLiteral(_NOWHERE, value(inner, group).upper())
            case e.Call(_, Name(_, "unhex")):
                return e.ColumnRef(_NOWHERE, (Name(_NOWHERE, "no buffer"),))
        return None

    return value(rewrite(parsed(text), change), {**group, "no buffer": frozenset()})
