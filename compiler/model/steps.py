"""The steps of a relation: the operators of the language, resolved and typed.

A relation is a chain of steps over its inputs. A new operator of the language is a new step here, a
rule in ``compiler.resolve`` that builds it and a kind in ``compiler.operators`` that knows the
rest. Steps that keep state derive from ``Stateful`` and have the id that identifies it in
savepoints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from ...contracts.records import dataclass
from ...dsl.ast.expressions import Call
from ...dsl.format import sql
from .functions import Cell
from .schema import Duration, Schema
from .typed import Typed
from .types import Type

WINDOW_STRUCTS = ("window", "session_window")
"""The columns in which Spark keeps start and end of a window."""


@dataclass(frozen=True, slots=True)
class Column:
    """An output column: a name and its expression."""

    name: str
    value: Typed

    def __str__(self) -> str:
        return f"{self.name} {self.value.type} = {sql(self.value.expression)}"


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on rows."""


@dataclass(frozen=True, slots=True)
class SideRows(Step):
    """The rows that a source filters out: a side stream begins with them.

    ``policy`` is ``malformed`` or ``future``; ``condition`` is true for the latter.
    """

    policy: str
    source: str
    condition: Typed | None


@dataclass(frozen=True, slots=True)
class Filter(Step):
    """Keep the rows for which ``condition`` is true (WHERE, HAVING)."""

    condition: Typed


@dataclass(frozen=True, slots=True)
class Project(Step):
    """Replace each row's columns by these, in order."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Unnest(Step):
    """Add a column with an element of ``array`` to each row, once for each element.

    Of a map the elements are its entries, as structs of ``key`` and ``value``. ``outer`` keeps a
    row that has no element, with NULL.
    """

    column: str
    array: Typed
    element: Type
    outer: bool


@dataclass(frozen=True, slots=True)
class Window:
    """A window function over an event time, or over the processing time (``processing``).

    ``kind`` is ``tumble``, ``hop``, ``cumulate`` or ``session``; ``slide`` belongs to ``hop``, and
    is the step of ``cumulate``. ``size`` is the gap of a session. ``offset`` shifts all windows; it
    may be negative. ``struct`` is the column in which Spark keeps start and end.
    """

    kind: str
    column: Typed
    size: Duration
    slide: Duration | None = None
    offset: Duration | None = None
    processing: bool = False

    @property
    def struct(self) -> str:
        """The name of Spark's window column."""
        return "session_window" if self.kind == "session" else "window"

    def __str__(self) -> str:
        slide = f" every {self.slide}" if self.slide is not None else ""
        offset = f" offset {self.offset}" if self.offset is not None else ""
        return f"{self.kind} {sql(self.column.expression)} {self.size}{slide}{offset}"


@dataclass(frozen=True, slots=True)
class LateRows(Step):
    """The rows of its input that are late for ``operator``, with the watermark that they missed.

    A row is late when the watermark has reached its ``time``; with a ``window``, the end of the
    last one that it belongs to; ``lateness`` later, if there is one.
    """

    operator: str
    time: str
    window: Window | None = None
    lateness: Duration | None = None


WATERMARK = "watermark"
"""The column of late rows with the watermark that they missed."""


@dataclass(frozen=True, slots=True)
class EveryRow(Step):
    """All rows: a filter on the result removes none before it has moved the watermark."""


@dataclass(frozen=True, slots=True)
class AssignWindow(Step):
    """Add the window struct to each row, once for each of its windows."""

    window: Window


@dataclass(frozen=True, slots=True)
class Stateful(Step):
    """A step that keeps state under ``id``; ``kind`` is its name in plans and messages."""

    kind: ClassVar[str]
    id: str


@dataclass(frozen=True, slots=True)
class Key:
    """A grouping key: its name after the grouping, and its expression."""

    name: str
    value: Typed


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """A distinct aggregate and the cells of its state.

    ``id`` is what it computes, as canonical text (``sum(amount)``); ``function`` is Spark's name
    for it; ``given`` are the types of its arguments.
    """

    id: str
    call: Call
    function: str
    cells: tuple[Cell, ...]
    given: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class Aggregate(Stateful):
    """Group rows by keys and, when there is one, a window.

    ``columns`` are the aggregate expressions in order, ``calls`` the distinct aggregates inside
    them. ``changes`` is EMIT CHANGES: a group's row is emitted each time it changes. Otherwise it
    is emitted once, when the watermark has passed the window (or the event-time key).
    """

    kind: ClassVar[str] = "aggregate"
    window: Window | None
    keys: tuple[Key, ...]
    columns: tuple[Column, ...]
    calls: tuple[AggregateCall, ...]
    changes: bool


@dataclass(frozen=True, slots=True)
class JoinSide:
    """One input of a join.

    The alias of its columns, its equality keys, its event time; in a window join the window that is
    assigned to each row first, which is the last column of its schema. ``may_lack_time`` says that
    a row may have no instant and that nothing else drops it: it would wait for a partner for ever.
    """

    relation: str
    alias: str
    schema: Schema
    keys: tuple[Typed, ...]
    event_time: str | None
    window: Window | None = None
    may_lack_time: bool = False


@dataclass(frozen=True, slots=True)
class Join(Stateful):
    """An interval join or a window join; ``join`` is ``inner``, ``left``, ``right`` or ``full``.

    ``lower`` and ``upper`` bound right time minus left time, in microseconds; None where the window
    is the bound, or unbounded state was accepted.
    """

    kind: ClassVar[str] = "join"
    join: str
    left: JoinSide
    right: JoinSide
    condition: Typed
    lower: int | None
    upper: int | None


@dataclass(frozen=True, slots=True)
class Lookup(Step):
    """Join each row with the current rows of a table; ``join`` is ``inner`` or ``left``.

    ``left`` is the alias that the rows get first, None where they already have aliases. The
    condition is over the aliases.
    """

    join: str
    left: str | None
    table: str
    alias: str
    schema: Schema
    condition: Typed


@dataclass(frozen=True, slots=True)
class Deduplicate(Stateful):
    """Keep the first row of each combination of ``keys``.

    A key is forgotten ``within`` after its row.
    """

    kind: ClassVar[str] = "dedup"
    keys: tuple[Key, ...]
    within: Duration


@dataclass(frozen=True, slots=True)
class OrderItem:
    """A sort key of a top-N.

    ``nulls_first`` follows from the direction when it was not written.
    """

    column: str
    type: Type
    nullable: bool
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class TopN(Stateful):
    """The first ``limit`` rows of each partition of a closed window.

    ``function`` numbers them: ``row_number``, or with ties ``rank`` or ``dense_rank``. ``time`` is
    the event-time column that closes the partition, one of ``keys``. ``columns`` are what each row
    keeps besides the keys; ``position`` is the column that numbers the rows from one, if selected.
    ``output`` is the order of keys, position and columns.
    """

    kind: ClassVar[str] = "topn"
    time: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    order: tuple[OrderItem, ...]
    limit: int
    position: str | None
    output: tuple[str, ...]
    function: str = "row_number"


@dataclass(frozen=True, slots=True)
class Union(Step):
    """The rows of all branches, columns by position.

    Each branch consists of stateless steps over one input.
    """

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a union: an input relation and the steps on it."""

    input: str
    steps: tuple[Step, ...]


def late_steps(steps: Iterable[Step]) -> Iterator[LateRows]:
    """Yield the steps that select late rows, including those in a union's branches."""
    for step in steps:
        if isinstance(step, LateRows):
            yield step
        elif isinstance(step, Union):
            for branch in step.branches:
                yield from late_steps(branch.steps)


def tables_of(steps: Iterable[Step]) -> Iterator[str]:
    """Yield the tables in which steps look rows up, including those in a union's branches."""
    for step in steps:
        if isinstance(step, Lookup):
            yield step.table
        elif isinstance(step, Union):
            for branch in step.branches:
                yield from tables_of(branch.steps)
