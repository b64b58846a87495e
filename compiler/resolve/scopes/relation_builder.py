"""The context of a stream while it is resolved: the relations it may read and those it becomes."""

from __future__ import annotations

from dataclasses import field
from itertools import count

from ....contracts.records import dataclass
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ...model.pipeline import Relation
from ...model.schema import Schema
from ...model.steps import Branch, Stateful, Step
from .lateness import check_lateness


@dataclass(frozen=True, slots=True)
class Known:
    """A relation that can be read.

    Its name in the emitted script, its columns, where it is declared; ``changes`` and
    ``above_state`` as in ``Relation``.
    """

    relation: str
    schema: Schema
    changes: bool
    above_state: bool
    span: Span


def known_as(relation: Relation, span: Span) -> Known:
    """Return what is known of a relation by those that read it."""
    return Known(relation.name, relation.schema, relation.changes, relation.above_state, span)


def changes_input(known: Known, message: str, label: Label) -> Diagnostic:
    """Return the diagnostic for a relation that emits changes where rows have to be final."""
    return Diagnostic(
        codes.CHANGES_INPUT,
        message,
        label,
        secondary=(Label(known.span, "its rows replace earlier ones"),),
        help="let it emit when its windows close: leave out `EMIT CHANGES`, `EMIT EARLY` and "
        "`ALLOWED LATENESS` there",
    )


@dataclass
class Environment:
    """The names allowed in FROM.

    ``broken`` ones are declared and have errors of their own; ``sinks`` can't be read, and are
    listed with what they read. ``tables`` can be joined.
    """

    relations: dict[str, Known]
    broken: set[str]
    sinks: dict[str, str] = field(default_factory=dict)
    tables: dict[str, Known] = field(default_factory=dict)

    def child(self) -> Environment:
        """Return an environment to which names can be added without changing this one."""
        return Environment(dict(self.relations), set(self.broken), self.sinks, self.tables)


@dataclass
class StreamContext:
    """One CREATE STREAM while it is resolved."""

    stream: str
    uid: str
    unbounded: bool
    span: Span
    diagnostics: Diagnostics
    relations: list[Relation] = field(default_factory=list)
    roles: dict[str, Span] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)

    def free_name(self, name: str) -> str:
        """Return a name for a relation without state: this one, or with a number after it."""
        taken = {relation.name for relation in self.relations}
        numbered = (f"{name}_{number}" for number in count(2))
        return name if name not in taken else next(one for one in numbered if one not in taken)

    def state_id(self, relation: str) -> str:
        """Return the id of the state kept in a relation of this stream."""
        return self.uid + relation[len(self.stream) :]


class Chain:
    """Steps under construction over one or two inputs."""

    def __init__(
        self,
        context: StreamContext,
        name: str,
        span: Span,
        inputs: tuple[str, ...],
        schema: Schema,
        changes: bool,
        above_state: bool,
    ) -> None:
        self.context = context
        self.name = name
        self.span = span
        self.inputs = inputs
        self.schema = schema
        self.changes = changes
        self.above_state = above_state
        self.steps: list[Step] = []

    def add(self, step: Step, schema: Schema | None = None) -> None:
        """Append a step; ``schema`` is given when the step changes the columns."""
        problem = check_lateness(step, self.schema, self.span)
        if problem is not None:
            self.context.diagnostics.add(problem)
        self.steps.append(step)
        self.above_state |= isinstance(step, Stateful)
        if schema is not None:
            self.schema = schema

    def cut(self, role: str) -> None:
        """Give the steps so far a name of their own, ``<name>__<role>``, and continue from it."""
        relation = self.finish(f"{self.name}__{role}")
        self.inputs = (relation.name,)
        self.steps = []

    def finish(self, name: str) -> Relation:
        """Add the relation to the stream's and return it; a second one of its name is reported."""
        relation = Relation(
            name,
            self.context.state_id(name),
            self.context.stream,
            self.inputs,
            tuple(self.steps),
            self.schema,
            self.changes,
            self.above_state,
            self.context.span if name == self.context.stream else self.span,
        )
        first = next((one for one in self.context.relations if one.name == name), None)
        if first is None:
            self.context.relations.append(relation)
        elif name not in self.context.reported:
            self.context.diagnostics.add(_second_part(relation, first))
        return relation

    def as_branch(self) -> Branch:
        """Return the chain as a branch of a union; its steps are stateless by then."""
        assert not any(isinstance(s, Stateful) for s in self.steps)
        return Branch(self.inputs[0], tuple(self.steps))

    def id_for(self, role: str, last: bool, span: Span) -> str:
        """Return the state id of a step, reporting a second step of the same role."""
        name = self.name if last else f"{self.name}__{role}"
        taken = self.context.roles.setdefault(f"{self.name}/{role}", span)
        if taken is not span:
            self.context.reported.add(f"{self.name}__{role}")
            self.context.diagnostics.add(_second_step(role, self.context.stream, span, taken))
        return self.context.state_id(name)


_ROLE_WORDS = {
    "match": "MATCH_RECOGNIZE",
    "join": "join",
    "aggregate": "aggregate",
    "topn": "top-N",
    "dedup": "DISTINCT ON",
    "over": "OVER",
}


def _second_step(role: str, stream: str, span: Span, first: Span) -> Diagnostic:
    return Diagnostic(
        codes.SECOND_STEP,
        f"stream `{stream}` has two {_ROLE_WORDS[role]} steps that would share an id",
        Label(span, "the second"),
        secondary=(Label(first, "the first"),),
        help="put one of them in a separate stream and read that by its name",
    )


def _second_part(part: Relation, first: Relation) -> Diagnostic:
    name = part.name.removeprefix(f"{part.stream}__")
    return Diagnostic(
        codes.DUPLICATE_NAME,
        f"two parts of stream `{part.stream}` are called `{name}`",
        Label(part.span, "the second"),
        secondary=(Label(first.span, "the first"),),
        help="give one of them another name: parts are known by name, in the script and in the "
        "state",
    )


def part_name(owner: str, name: Name) -> str:
    """Return the full name of a part of a stream that the user named (WITH, a subquery's alias)."""
    return f"{owner}__{name.text}"
