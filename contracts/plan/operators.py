"""Operators, which keep state: a class for each kind.

Plans of earlier versions lack ``input``, ``also``, ``given``, ``declared``, ``statements`` and the
columns of aggregates. There, None or empty means unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, TypeAlias

from ..json_records import KEY, Record, named
from ..records import dataclass
from .values import Branch, Column, Window


@dataclass(frozen=True, slots=True)
class AggregateCell(Record):
    """One buffer of an aggregate: what it computes, and Spark's name for it.

    ``scale`` is that of a decimal which Spark keeps as an integer.
    """

    id: str
    buffer: str
    type: str | None
    scale: int | None = None


@dataclass(frozen=True, slots=True)
class Aggregate(Record):
    """An aggregate function of an operator and its cells in Spark's order.

    ``given`` are the types of its arguments, if its cells do not imply them.
    """

    id: str
    function: str
    filter: str | None
    cells: tuple[AggregateCell, ...]
    given: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class _Operator(Record):
    """What all operators have; ``stream`` is the relation in which it is defined."""

    id: str = field(metadata=KEY)
    stream: str


@dataclass(frozen=True, slots=True)
class Aggregation(_Operator):
    """Groups with aggregates of their rows: over windows, or changes without end.

    ``columns`` are the output: aggregates by their ids, or SQL over these.
    """

    KIND: ClassVar[str] = "aggregate"

    window: Window | None
    keys: tuple[Column, ...]
    emit: str
    aggregates: tuple[Aggregate, ...]
    columns: Mapping[str, str] | None = None
    input: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound(Record):
    """How far the time of the right side may be from that of the left one."""

    lower_micros: int
    upper_micros: int


@dataclass(frozen=True, slots=True)
class Side(Record):
    """One side of a join, whose rows wait for those of the other; keys are SQL over both."""

    window: Window | None = field(default=None, kw_only=True)
    relation: str
    keys: tuple[Column, ...]
    columns: tuple[Column, ...]
    event_time: str | None
    input: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Join(_Operator):
    """Two sides; ``also`` is a further condition on pairs besides keys and bound."""

    KIND: ClassVar[str] = "join"

    join: str
    condition: str
    bound: Bound | None
    sides: tuple[Side, ...]
    also: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Deduplication(_Operator):
    """Ids that are remembered ``within`` a length of time."""

    KIND: ClassVar[str] = "dedup"

    keys: tuple[Column, ...]
    within: str
    input: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class TopN(_Operator):
    """Rows that wait for their window to close; then the first ``limit`` are emitted.

    ``rows`` are the columns that are kept, ``given`` their types. ``function`` is ``rank`` or
    ``dense_rank`` if ties share a rank, else None.
    """

    KIND: ClassVar[str] = "topn"

    keys: tuple[Column, ...]
    rows: tuple[str, ...]
    order: tuple[str, ...]
    limit: int
    aggregates: tuple[Aggregate, ...]
    given: tuple[str | None, ...] | None = None
    input: tuple[Branch, ...] = ()
    function: str | None = None


@dataclass(frozen=True, slots=True)
class Panes(Record):
    """When a window emits more than one row: while it is open, and for how long after it closed."""

    early: str | None = None
    lateness: str | None = None


@dataclass(frozen=True, slots=True)
class ProgramInput(Record):
    """A relation that a program reads."""

    alias: str
    relation: str
    event_time: str | None
    input: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramCell(Record):
    """A cell of a program: a value, map, set or list; ``default`` is a value's initial SQL.

    ``entry`` is the type of the entries of the others, ``value`` that of a map's values.
    """

    id: str
    kind: str
    type: str | None
    entry: str | None = None
    value: str | None = None
    default: str | None = field(kw_only=True)
    ttl: str | None = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Timer(Record):
    """A timer of a program, of ``event`` or ``processing`` time."""

    id: str
    time: str


@dataclass(frozen=True, slots=True)
class Program(_Operator):
    """A keyed program; with a window it emits ``panes``, if ``ordered`` its rows wait.

    ``handlers`` is ``python`` if they are methods of ``python_class``, of which ``code`` is a
    digest. ``declared`` is whether it was written as an operator, ``statements`` what it does.
    """

    KIND: ClassVar[str] = "operator"

    window: Window | None = field(default=None, kw_only=True)
    panes: Panes | None = field(default=None, kw_only=True)
    keys: tuple[Column, ...]
    inputs: tuple[ProgramInput, ...]
    ordered: bool
    cells: tuple[ProgramCell, ...]
    timers: tuple[Timer, ...]
    returns: tuple[Column, ...]
    handlers: str | None = None
    python_class: str | None = field(default=None, metadata=named("class"))
    declared: bool | None = None
    statements: tuple[str, ...] | None = None
    code: str | None = None


Operator: TypeAlias = Aggregation | Join | Deduplication | TopN | Program
"""A stateful operator of any kind."""
