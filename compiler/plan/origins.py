"""What the rows of a relation are made of: rows of what is below, and each column in its terms.

Projections are substituted and filters collected down to the next stateful step or source, so that
a stream in the middle that only passes rows on, or that names a column anew, changes nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from ...contracts.records import dataclass
from ...dsl.ast.expressions import ColumnRef, Expression, FieldAccess
from ...dsl.ast.node import Name, Node
from ...dsl.format import sql
from ...dsl.source import Span
from ...dsl.walk import rewrite
from ..model.conditions import conjuncts
from ..model.pipeline import Pipeline, Relation
from ..model.programs import Operator
from ..model.same import canonical
from ..model.steps import (
    WATERMARK,
    Aggregate,
    AssignWindow,
    Deduplicate,
    Filter,
    Join,
    JoinSide,
    LateRows,
    Lookup,
    Project,
    SideRows,
    Stateful,
    Step,
    TopN,
    Union,
)
from ..model.types import Type

_NOWHERE = Span(0, 0)
_JOIN, _ON = "JOIN", "ON"
"""The words in the condition of a look-up, before the table and behind it."""

Columns: TypeAlias = Mapping[tuple[str, ...], Expression]
"""What each column is, by its name or by an alias and its name."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Rows of one thing below, a source or a stateful step, and what was done to them one by one.

    ``where`` are the conditions they passed, look-ups in tables among them, as canonical text.
    """

    below: str
    where: tuple[str, ...]
    columns: Columns

    def text(self, expression: Expression) -> str:
        """Return the canonical text of an expression over these rows, in terms of what is below."""
        return sql(canonical(substitute(expression, self.columns)))

    def filtered(self, *conditions: str) -> Branch:
        """Return the rows that pass more conditions."""
        return replace(self, where=(*self.where, *conditions))


class Origins:
    """The origins of all relations of a pipeline."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._relations = {relation.name: relation for relation in pipeline.relations}
        self._sources = {source.name: source for source in pipeline.sources}
        self._known: dict[str, tuple[Branch, ...]] = {}

    def of(self, name: str) -> tuple[Branch, ...]:
        """Return the branches of a source or relation: several where a union is below."""
        if name not in self._known:
            relation = self._relations.get(name)
            self._known[name] = (
                self._source(name) if relation is None else self._through(relation, relation.steps)
            )
        return self._known[name]

    def before(
        self, relation: Relation, step: Stateful, *, windows: bool = True
    ) -> tuple[Branch, ...]:
        """Return the branches of the rows that reach a step of one input.

        That these have been put into windows is none of their conditions without ``windows``.
        """
        steps = relation.steps[: relation.steps.index(step)]
        if not windows:
            steps = tuple(one for one in steps if not isinstance(one, AssignWindow))
        return self._through(relation, steps)

    def types_before(self, relation: Relation, step: Stateful) -> dict[str, Type]:
        """Return the types of the columns that reach a step of one input."""
        for one in reversed(relation.steps[: relation.steps.index(step)]):
            match one:
                case Project(columns):
                    return {column.name: column.value.type for column in columns}
                case Operator(returns=returns):
                    return {field.name: field.type for field in returns}
        below = self._relations.get(relation.inputs[0])
        schema = self._sources[relation.inputs[0]].schema if below is None else below.schema
        return {field.name: field.type for field in schema}

    def _source(self, name: str) -> tuple[Branch, ...]:
        source = self._sources[name]
        columns: dict[tuple[str, ...], Expression] = {
            (column,): reference(column) for column in source.schema.names()
        }
        for computed in source.computed:
            columns[computed.name,] = substitute(computed.value.expression, columns)
        return (Branch(name, (), columns),)

    def _through(self, relation: Relation, steps: tuple[Step, ...]) -> tuple[Branch, ...]:
        match steps[0] if steps else None:
            case Union(branches):
                found = tuple(
                    self._renamed(relation, one, steps)
                    for branch in branches
                    for one in _advanced(branch.steps, self.of(branch.input))
                )
                return _advanced(steps[1:], found)
            case SideRows(policy, source, _):
                branch = Branch(source, (f"{policy} rows",), _named(relation.schema.names()))
                return _advanced(steps[1:], (branch,))
            case Join() as join:
                return _advanced(steps[1:], (self.joined(join),))
            case Operator() as operator:
                return _advanced(steps[1:], (_returned(operator),))
        return _advanced(steps, self.of(relation.inputs[0]))

    def _renamed(self, relation: Relation, branch: Branch, steps: tuple[Step, ...]) -> Branch:
        """Return a branch of a union with the names of the first one: columns go by position."""
        first = steps[0]
        assert isinstance(first, Union)
        names = self._names(first.branches[0].input, first.branches[0].steps)
        values = list(branch.columns.values())
        return replace(
            branch, columns={(n,): v for n, v in zip(names, values, strict=False)} or branch.columns
        )

    def _names(self, input_: str, steps: tuple[Step, ...]) -> tuple[str, ...]:
        for step in reversed(steps):
            if isinstance(step, Project):
                return tuple(column.name for column in step.columns)
        relation = self._relations.get(input_)
        schema = self._sources[input_].schema if relation is None else relation.schema
        return schema.names()

    def joined(self, join: Join) -> Branch:
        """Return the rows of a join: columns of ``left`` and ``right``, behind their aliases."""
        columns: dict[tuple[str, ...], Expression] = {}
        for word, side in (("left", join.left), ("right", join.right)):
            for (name,), value in _side_columns(side, self.of(side.relation)).items():
                columns[side.alias, name] = _prefixed(value, word)
        return Branch(join.id, (), columns)


def _side_columns(side: JoinSide, branches: tuple[Branch, ...]) -> Columns:
    """Return what the columns of a side are; as they are called where a union is below."""
    found = dict(_named(side.schema.names()))
    if len(branches) == 1:
        found |= {key: v for key, v in branches[0].columns.items() if key in found}
    return found


def reference(*names: str) -> ColumnRef:
    """Return a reference to a column."""
    return ColumnRef(_NOWHERE, tuple(Name(_NOWHERE, name) for name in names))


def substitute(expression: Expression, columns: Columns) -> Expression:
    """Return an expression with columns replaced by what they are."""

    def change(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef):
            return None
        names = tuple(part.text for part in node.parts)
        for length in range(len(names), 0, -1):
            found = columns.get(names[:length])
            if found is not None:
                return _field(found, node.parts[length:])
        return None

    return rewrite(expression, change)


def _field(owner: Expression, fields: Iterable[Name]) -> Expression:
    for field in fields:
        if isinstance(owner, ColumnRef):
            owner = ColumnRef(_NOWHERE, (*owner.parts, field))
        else:
            owner = FieldAccess(_NOWHERE, owner, field)
    return owner


def _prefixed(expression: Expression, word: str) -> Expression:
    def change(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef):
            return None
        return ColumnRef(_NOWHERE, (Name(_NOWHERE, word), *node.parts))

    return rewrite(expression, change)


def _named(names: Iterable[str]) -> dict[tuple[str, ...], Expression]:
    return {(name,): reference(name) for name in names}


def _advanced(steps: Iterable[Step], branches: tuple[Branch, ...]) -> tuple[Branch, ...]:
    for step in steps:
        if isinstance(step, Stateful):
            branches = (_above(step, branches),)
        else:
            branches = tuple(_advance(step, branch) for branch in branches)
    return branches


def _advance(step: Step, branch: Branch) -> Branch:
    match step:
        case Filter(condition):
            parts = conjuncts(substitute(condition.expression, branch.columns))
            return branch.filtered(*(sql(canonical(part)) for part in parts))
        case Project(columns):
            made: Columns = {
                (c.name,): substitute(c.value.expression, branch.columns) for c in columns
            }
            return replace(branch, columns=made)
        case AssignWindow(window):
            shape = f"{window.kind} {window.size}{f' by {window.slide}' if window.slide else ''}"
            time = branch.text(window.column.expression)
            seen = {**branch.columns, (window.struct,): reference(window.struct)}
            return replace(branch.filtered(f"{shape} on {time}"), columns=seen)
        case LateRows(operator):
            missed = {**branch.columns, (WATERMARK,): reference(WATERMARK)}
            return replace(branch.filtered(f"late for {operator}"), columns=missed)
        case Lookup():
            return _looked_up(step, branch)
    return branch


def _looked_up(step: Lookup, branch: Branch) -> Branch:
    columns = dict(branch.columns)
    if step.left is not None:
        columns = {(step.left, *names): value for names, value in columns.items()}
    columns |= {(step.alias, name): reference(step.table, name) for name in step.schema.names()}
    seen = replace(branch, columns=columns)
    condition = seen.text(step.condition.expression)
    return seen.filtered(f"{step.join.upper()} {_JOIN} {step.table} {_ON} {condition}")


def table_of(condition: str) -> str | None:
    """Return the table in which rows were looked up by a condition; None for any other.

    >>> table_of("LEFT JOIN cards ON id = cards.id"), table_of("v > 1")
    ('cards', None)
    """
    kind, _, rest = condition.partition(f" {_JOIN} ")
    name, on, _ = rest.partition(f" {_ON} ")
    return name if on and " " not in kind else None


def _above(step: Stateful, branches: tuple[Branch, ...]) -> Branch:
    """Return the rows that a stateful step gives."""
    known: Columns = branches[0].columns if len(branches) == 1 else {}
    columns: dict[tuple[str, ...], Expression] = {}
    match step:
        case Aggregate():
            if step.window is not None:
                columns[step.window.struct,] = reference(step.window.struct)
            values = [(key.name, key.value) for key in step.keys]
            values += [(column.name, column.value) for column in step.columns]
            columns |= {(name,): substitute(v.expression, known) for name, v in values}
        case TopN():
            columns = {(n,): known.get((n,), reference(n)) for n in step.output}
        case Deduplicate():
            columns = dict(known or branches[0].columns)
        case Operator():
            return _returned(step)
    return Branch(step.id, (), columns)


def _returned(step: Operator) -> Branch:
    return Branch(step.id, (), _named(step.returns.names()))
