"""Joins with swapped sides: `FROM b JOIN a` is the join that `FROM a JOIN b` was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....contracts.plan import Bound, Branch, Join, Plan, Query
from ....dsl.ast.expressions import ColumnRef
from ....dsl.ast.node import Name, Node
from ..texts.parsing import reworded
from ..texts.rewritten import with_branches, with_texts
from .versions import origin

_OTHER = {"left": "right", "right": "left"}


def turned(
    old: Plan, new: Plan, pairs: Mapping[str, str | None], renamed: Mapping[str, str]
) -> tuple[Join, ...]:
    """Return the old joins whose left rows are the right ones of the new join, and the reverse."""
    found = []
    for now, was in pairs.items():
        before, after = None if was is None else old.operators[was], new.operators[now]
        if isinstance(before, Join) and isinstance(after, Join):
            found += [before] if _is_turned(before, after, renamed) else []
    return tuple(found)


def _is_turned(old: Join, new: Join, renamed: Mapping[str, str]) -> bool:
    before = [{origin(branch, renamed) for branch in side.input} for side in old.sides]
    after = [{branch.below for branch in side.input} for side in new.sides]
    return before != after and before == after[::-1]


def mirrored(plan: Plan, join: Join) -> Plan:
    """Return a plan with the sides of a join swapped, and everything above adapted."""

    def turn(branch: Branch) -> Branch:
        return with_texts(branch, _turned) if branch.below == join.id else branch

    operators = {id_: with_branches(one, turn) for id_, one in plan.operators.items()}
    own = operators[join.id]
    assert isinstance(own, Join)
    operators[join.id] = _other_way_round(own)
    queries = {id_: _with_sides_turned(one, join.id) for id_, one in plan.queries.items()}
    return replace(plan, operators=operators, queries=queries)


def _other_way_round(join: Join) -> Join:
    bound = join.bound
    return replace(
        join,
        sides=join.sides[::-1],
        join=_OTHER.get(join.join, join.join),
        bound=None if bound is None else Bound(-bound.upper_micros, -bound.lower_micros),
        also=None if join.also is None else tuple(sorted(map(_turned, join.also))),
    )


def _with_sides_turned(query: Query, join: str) -> Query:
    uses = (
        replace(use, columns=use.columns[::-1]) if use.id == join and use.columns else use
        for use in query.operators
    )
    return replace(query, operators=tuple(uses))


def _turned(text: str) -> str:
    """Return an expression over the rows of a join in terms of the swapped sides."""
    return reworded(text, _other_side)


def _other_side(node: Node) -> Node | None:
    if not isinstance(node, ColumnRef) or len(node.parts) == 1:
        return None
    side, *rest = node.parts
    turned = Name(side.span, _OTHER.get(side.text, side.text))
    return ColumnRef(node.span, (turned, *rest))
