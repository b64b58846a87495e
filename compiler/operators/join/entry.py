"""The rows of a join, and both sides in the plan."""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts import plan
from ....dsl.ast.expressions import Binary, ColumnRef, Expression
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import rewrite, walk
from ....dsl.format import sql
from ...model.conditions import conjuncts
from ...model.steps import Join, JoinSide
from ..entries import branch_entry, by_reference, column_of, type_text
from ..rows.origins import (
    Branch,
    Branches,
    Terms,
    Upstream,
    by_name,
    prefixed,
    reference,
    substitute,
)
from ..windows import window_entry


def joined(join: Join, upstream: Upstream) -> Branch:
    """Return the rows of a join: columns of ``left`` and ``right``, qualified by their aliases."""
    terms: dict[tuple[str, ...], Expression] = {}
    for word, side in (("left", join.left), ("right", join.right)):
        for (name,), value in _side_terms(side, upstream.of(side.relation)).items():
            terms[side.alias, name] = prefixed(value, word)
    return Branch(join.id, (), terms)


def _side_terms(side: JoinSide, branches: Branches) -> Terms:
    """Return the terms of a side's columns; their own names where a union is below."""
    found = by_name(side.schema.names())
    if len(branches) == 1:
        found |= {key: v for key, v in branches[0].terms.items() if key in found}
    return found


def join_entry(step: Join, stream: str, upstream: Upstream) -> plan.Join:
    """Return both sides of a join, and how long their rows wait."""
    return plan.Join(
        id=step.id,
        stream=stream,
        join=step.join,
        condition=sql(_without_aliases(step, step.condition.expression)),
        bound=None
        if step.lower is None or step.upper is None
        else plan.Bound(lower_micros=step.lower, upper_micros=step.upper),
        sides=tuple(_side(step, side, upstream) for side in (step.left, step.right)),
        also=tuple(_also_required(step, joined(step, upstream))),
    )


def _side(step: Join, side: JoinSide, upstream: Upstream) -> plan.Side:
    keys = [(_without_aliases(step, k.expression), k.type) for k in side.keys]
    return plan.Side(
        window=None if side.window is None else window_entry(side.window),
        relation=side.relation,
        keys=tuple(plan.Column(sql(key), type_text(type_)) for key, type_ in keys),
        columns=tuple(column_of(f) for f in side.schema),
        event_time=side.event_time,
        input=_side_input(side, upstream.of(side.relation)),
    )


def _side_input(side: JoinSide, branches: Branches) -> tuple[plan.Branch, ...]:
    """Return the rows of a side of a join."""
    names = side.schema.names()
    qualified: Terms = {(side.alias, name): reference(name) for name in names}
    own = [substitute(key.expression, qualified) for key in side.keys]
    keys = [(sql(key), key) for key in own]
    return tuple(branch_entry(b, keys=keys, columns=by_reference(names)) for b in branches)


def _without_aliases(step: Join, expression: Expression) -> Expression:
    """Return an expression over a join that names relations: an alias is not part of its meaning.

    The sides of a relation joined with itself are ``left`` and ``right``.
    """
    relations = {side.alias: side.relation for side in (step.left, step.right)}
    if step.left.relation == step.right.relation:
        relations = {step.left.alias: "left", step.right.alias: "right"}

    def change(node: Node) -> Node | None:
        if isinstance(node, ColumnRef) and node.parts[0].text in relations:
            head = Name(node.span, relations[node.parts[0].text])
            return ColumnRef(node.span, (head, *node.parts[1:]))
        return None

    return rewrite(expression, change)


def _also_required(step: Join, rows: Branch) -> Iterator[str]:
    """Yield the conditions of a join other than equal keys and time bounds."""
    equal = {
        sql(Binary(left.expression.span, "=", *pair))
        for left, right in zip(step.left.keys, step.right.keys, strict=True)
        for pair in (
            (left.expression, right.expression),
            (right.expression, left.expression),
        )
    }
    times = {(side.alias, side.event_time) for side in (step.left, step.right)}
    for part in conjuncts(step.condition.expression):
        read = {
            tuple(name.text for name in node.parts)
            for node in walk(part)
            if isinstance(node, ColumnRef)
        }
        bounded = (step.lower, step.upper) != (None, None) and read == times
        if not bounded and sql(part) not in equal:
            yield rows.text(part)
