"""A whole pipeline with every name resolved and every expression typed."""

from __future__ import annotations

from dataclasses import field

from ...contracts.records import dataclass
from ...dsl.ast.expressions import Expression
from ...dsl.reports.source import Span
from ...dsl.settings.values import Settings
from .declared import DeclaredFunction, PythonFunction
from .schema import Duration, Field, Schema
from .steps import Column, Step


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The policy of barriers (CHECKPOINT, or its defaults)."""

    every: Duration
    retain: int
    timeout: Duration
    tolerate: int


@dataclass(frozen=True, slots=True)
class Watermark:
    """The event time of a source and how late its rows may be."""

    column: str
    delay: Duration


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A connector with its options as text, checked and in the order of the connector's table.

    ``passed`` are the options passed to Spark unchanged.
    """

    connector: str
    options: tuple[tuple[str, str], ...]
    passed: tuple[tuple[str, str], ...] = ()

    def option(self, name: str) -> str | None:
        """Return the text of an option, None when it was not given."""
        return dict(self.options).get(name)


@dataclass(frozen=True, slots=True)
class FutureRows:
    """The policy for rows whose event time is further than ``beyond`` ahead of the clock.

    ``condition`` is true for these rows, ``kept`` for all others. They go ``to`` a side stream, or
    are dropped.
    """

    beyond: Duration
    condition: Expression
    kept: Expression
    to: str | None


@dataclass(frozen=True, slots=True)
class MalformedRows:
    """The policy for rows that do not match the columns of a source.

    ``action`` is ``fail``, ``skip`` or ``send``, which sends them ``to`` a side stream.
    """

    action: str
    to: str | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """A column that the connector provides, and the connector's key for it."""

    field: Field
    key: str


@dataclass(frozen=True, slots=True)
class Source:
    """A source: physical columns, those of the connector, computed ones, watermark, policies.

    ``schema`` has the columns in this order.
    """

    name: str
    endpoint: Endpoint
    columns: tuple[Field, ...]
    metadata: tuple[Metadata, ...]
    computed: tuple[Column, ...]
    watermark: Watermark | None
    malformed_rows: MalformedRows
    future_rows: FutureRows | None
    schema: Schema
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Table:
    """Reference data: physical and computed columns; ``refresh`` is None for once per run."""

    name: str
    endpoint: Endpoint
    columns: tuple[Field, ...]
    computed: tuple[Column, ...]
    refresh: Duration | None
    schema: Schema
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Relation:
    """A stream, or a named part of one: steps over inputs.

    ``name`` is its name in other relations and the emitted script; ``id`` identifies its state, and
    is the same unless the stream has a uid. ``stream`` is the declaration that it is a part of.
    ``changes`` says that rows replace earlier rows (EMIT CHANGES) instead of only being added;
    ``above_state`` that a step of it, or below it, keeps state: the watermark may have passed its
    rows when they are emitted.
    """

    name: str
    id: str
    stream: str
    inputs: tuple[str, ...]
    steps: tuple[Step, ...]
    schema: Schema
    changes: bool
    above_state: bool = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sink:
    """A sink and the relation that it reads.

    ``upsert`` replaces the sink's row with the same ``key``; of several in one batch, the one with
    the greatest ``latest_by``, an event time, wins. A key without ``upsert`` is sent along with
    each row.
    """

    name: str
    relation: str
    endpoint: Endpoint
    span: Span = field(compare=False, repr=False)
    upsert: bool = False
    key: tuple[str, ...] = ()
    latest_by: str | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything a spec declares, in the order in which it can be built.

    ``called`` are the names of the functions that are called.
    """

    spec_name: str
    settings: Settings
    checkpoint: Checkpoint
    sources: tuple[Source, ...]
    relations: tuple[Relation, ...]
    sinks: tuple[Sink, ...]
    functions: tuple[DeclaredFunction, ...] = ()
    called: frozenset[str] = frozenset()
    tables: tuple[Table, ...] = ()

    def schema(self, name: str) -> Schema:
        """Return the columns of a source or relation."""
        named: tuple[Source | Relation, ...] = (*self.sources, *self.relations)
        return next(one.schema for one in named if one.name == name)

    def python_functions(self) -> tuple[PythonFunction, ...]:
        """Return the functions that a running job loads."""
        return tuple(f for f in self.functions if isinstance(f, PythonFunction))
