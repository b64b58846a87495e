"""Which columns a query needs at each of its steps, and so what its state holds.

A walk from the sink up. What is needed is a set of references, each as the texts of its parts;
what the parts mean (a column, a column behind an alias, a field of a struct) is decided where
they are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from ...dsl.ast.expressions import Call, ColumnRef, Expression
from ...dsl.records import dataclass
from ...dsl.walk import walk
from ..model.conditions import conjuncts
from ..model.graph import StateUse
from ..model.pipeline import Relation
from ..model.programs import Operator, columns_used, expressions, statements
from ..model.same import canonical
from ..model.steps import (
    WATERMARK,
    Aggregate,
    AssignWindow,
    Branch,
    Deduplicate,
    Filter,
    Join,
    JoinSide,
    LateRows,
    Lookup,
    Project,
    Step,
    TopN,
    Union,
)

Needed: TypeAlias = frozenset[tuple[str, ...]]


_WHOLE: Mapping[str, tuple[str, ...]] = {
    "inner": ("left", "right"),
    "left": ("left",),
    "right": ("right",),
    "full": (),
}
"""The sides of which a condition behind a join is asked before it."""

_OTHERS = {("left",): ("right",), ("right",): ("left",), (): ()}
"""The sides of which a condition of an outer join itself is asked before it."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A step as a query meets it: the relation that it is of, and what is needed of its output.

    For a source there is no step, and ``relation`` is its name.
    """

    relation: str
    step: Step | None
    needed: Needed


def state_uses(name: str, relations: dict[str, Relation]) -> Iterator[StateUse]:
    """Yield the stateful steps of the query that writes a relation whole, in Spark's order."""
    for visit in visits(name, relations):
        use = _use(visit.step, visit.needed)
        if use is not None:
            yield use


def visits(name: str, relations: dict[str, Relation]) -> Iterator[Visit]:
    """Yield what the query that writes a relation whole is made of, from the sink up.

    What is read twice is met twice.
    """
    relation = relations.get(name)
    if relation is None:
        return
    yield from _relation(
        relation, frozenset((column,) for column in relation.schema.names()), relations
    )


def _relation(
    relation: Relation, needed: Needed, relations: dict[str, Relation]
) -> Iterator[Visit]:
    asked: Needed = frozenset()
    for place, step in reversed(list(enumerate(relation.steps))):
        yield Visit(relation.name, step, needed)
        behind = relation.steps[place - 1] if place else None
        match step:
            case Filter(condition) if isinstance(behind, Join):
                # A side that is kept whole is filtered before its rows wait.
                asked, paired = _asked(condition.expression, behind, _WHOLE[behind.join])
                needed |= paired
                continue
            case Union(branches):
                names = relation.schema.names()
                places = [i for i, name in enumerate(names) if (name,) in _heads(needed)]
                for branch in branches:
                    below = _at_places(branch.input, branch.steps, places, relations)
                    yield from _chain(relation, branch, below, relations)
                return
            case Join():
                for side in (step.left, step.right):
                    yield from _named(side.relation, _below(step, side, needed | asked), relations)
                return
            case Operator():
                # What a program keeps is what it says, whoever reads its rows.
                used = [columns_used(step, given) for given in step.inputs]
                if place == 0:
                    for given, columns in zip(step.inputs, used, strict=True):
                        yield from _named(given.relation, _columns(columns), relations)
                    return
                needed = _columns(used[0])
                continue
        needed = _before(step, needed)
    yield from _named(relation.inputs[0], needed, relations)


def _columns(names: Iterable[str]) -> Needed:
    return frozenset((name,) for name in names)


def _named(name: str, needed: Needed, relations: dict[str, Relation]) -> Iterator[Visit]:
    relation = relations.get(name)
    if relation is None:
        yield Visit(name, None, needed)
    else:
        yield from _relation(relation, needed, relations)


def _chain(
    relation: Relation, branch: Branch, needed: Needed, relations: dict[str, Relation]
) -> Iterator[Visit]:
    for step in reversed(branch.steps):
        yield Visit(relation.name, step, needed)
        needed = _before(step, needed)
    yield from _named(branch.input, needed, relations)


def _at_places(
    input_: str, steps: tuple[Step, ...], places: list[int], relations: dict[str, Relation]
) -> Needed:
    """Return what the columns at these places are called in a branch of a union."""
    projects = [s for s in steps if isinstance(s, Project)]
    if projects:
        names = [c.name for c in projects[-1].columns]
    elif input_ in relations:
        names = list(relations[input_].schema.names())
    else:
        return frozenset()
    return frozenset((names[i],) for i in places)


def _use(step: Step | None, needed: Needed) -> StateUse | None:
    match step:
        case Join():
            return _join_use(step, needed)
        case Operator():
            used = [columns_used(step, given) for given in step.inputs] if step.ordered else []
            return StateUse(step, columns=tuple(used))
        case Aggregate():
            alive = {c.name for c in step.columns if (c.name,) in _heads(needed)}
            return StateUse(step, aggregates=_calls(step, alive))
        case TopN():
            return StateUse(step, aggregates=("collect_list(rows)",))
        case Deduplicate():
            return StateUse(step)
    return None


def _calls(step: Aggregate, alive: set[str]) -> tuple[str, ...]:
    """Return the ids of the aggregates in living columns.

    In the order in which Spark meets them.
    """
    ids = {canonical(call.call): call.id for call in step.calls}
    return tuple(
        dict.fromkeys(
            ids[form]
            for column in step.columns
            if column.name in alive
            for node in walk(column.value.expression)
            if isinstance(node, Call) and (form := canonical(node)) in ids
        )
    )


def alive(visit: Visit) -> Iterator[Expression]:
    """Yield the expressions of a step that what is needed of its output depends on."""
    step, heads = visit.step, _heads(visit.needed)
    match step:
        case Filter(condition):
            yield condition.expression
        case Project(columns):
            yield from (c.value.expression for c in columns if (c.name,) in heads)
        case AssignWindow(window):
            yield window.column.expression
        case Aggregate():
            yield from (key.value.expression for key in step.keys)
            yield from (c.value.expression for c in step.columns if (c.name,) in heads)
        case Lookup() | Join():
            yield step.condition.expression
        case Deduplicate():
            yield from (key.value.expression for key in step.keys)
        case Operator():
            for given in step.inputs:
                yield from (key.expression for key in given.keys)
            for handler in step.handlers:
                for statement in statements(handler.body):
                    yield from (typed.expression for typed in expressions(statement))


def _before(step: Step, needed: Needed) -> Needed:
    """Return what a step needs of its input, given what is needed of its output."""
    match step:
        case Filter(condition):
            return needed | _references([condition.expression])
        case Project(columns):
            heads = _heads(needed)
            return _references(c.value.expression for c in columns if (c.name,) in heads)
        case AssignWindow(window):
            kept = frozenset(n for n in needed if n[0] != window.struct)
            return kept | _references([window.column.expression])
        case Aggregate():
            heads = _heads(needed)
            times = [step.window.column.expression] if step.window else []
            keys = [k.value.expression for k in step.keys]
            alive = [c.value.expression for c in step.columns if (c.name,) in heads]
            return _references([*times, *keys, *alive])
        case Lookup():
            return _before_lookup(step, needed)
        case LateRows(time=time):
            return frozenset(n for n in needed if n[0] != WATERMARK) | {(time,)}
        case Deduplicate():
            return needed | _references(k.value.expression for k in step.keys)
        case TopN():
            return frozenset((name,) for name in (*step.keys, *step.columns))
    return needed


def _before_lookup(step: Lookup, needed: Needed) -> Needed:
    """Return what a lookup needs of the rows before it, which have got their alias in it or not."""
    wanted = needed | _references([step.condition.expression])
    if step.left is None:
        return wanted
    return frozenset(parts[1:] for parts in wanted if len(parts) > 1 and parts[0] == step.left)


def _join_use(step: Join, needed: Needed) -> StateUse:
    sides = tuple(_side_columns(step, side, needed) for side in (step.left, step.right))
    return StateUse(step, columns=sides)


def _side_columns(step: Join, side: JoinSide, needed: Needed) -> tuple[str, ...]:
    """Return the columns with which rows of a side wait.

    What is asked of one side alone is asked before a row waits, unless the row is kept anyhow.
    """
    whole = _WHOLE[step.join]
    optional = ("left", "right") if step.join == "inner" else _OTHERS[whole]
    _, paired = _asked(step.condition.expression, step, optional)
    return _columns_of(side, needed | paired)


def _asked(condition: Expression, join: Join, sides: tuple[str, ...]) -> tuple[Needed, Needed]:
    """Return what is read by conditions on one of these sides alone, and by all others."""
    aliases = {"left": join.left.alias, "right": join.right.alias}
    alone: list[Expression] = []
    others: list[Expression] = []
    for part in conjuncts(condition):
        read = {parts[0] for parts in _references([part])}
        alone_in = any(read == {aliases[side]} for side in sides)
        (alone if alone_in else others).append(part)
    return _references(alone), _references(others)


def _columns_of(side: JoinSide, wanted: Needed) -> tuple[str, ...]:
    names = {parts[1] for parts in wanted if len(parts) > 1 and parts[0] == side.alias}
    return tuple(n for n in side.schema.names() if n in names)


def _below(step: Join, side: JoinSide, needed: Needed) -> Needed:
    """Return what a side of a join needs of its relation: for the window the time it is over."""
    wanted = needed | _references([step.condition.expression])
    columns = frozenset((name,) for name in _columns_of(side, wanted))
    if side.window is None:
        return columns
    return columns - {(side.window.struct,)} | _references([side.window.column.expression])


def _references(expressions: Iterable[Expression]) -> Needed:
    return frozenset(
        tuple(p.text for p in node.parts)
        for expression in expressions
        for node in walk(expression)
        if isinstance(node, ColumnRef)
    )


def _heads(needed: Needed) -> frozenset[tuple[str]]:
    return frozenset((parts[0],) for parts in needed)
