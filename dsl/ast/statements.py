"""The top-level statements of a spec, as written."""

from __future__ import annotations

from dataclasses import field

from ...contracts.records import dataclass
from ..reports.source import Span
from .expressions import Expression
from .node import Name, Node
from .programs import Handler
from .queries import LateRows, Query
from .types import TypeNode


@dataclass(frozen=True, slots=True)
class Option(Node):
    """``name = 'value'`` in WITH; dotted names are joined with dots."""

    name: Name
    value: str
    value_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """A top-level statement."""


@dataclass(frozen=True, slots=True)
class Checkpoint(Statement):
    """``CHECKPOINT EVERY … [RETAIN n] [TIMEOUT …] [TOLERATE n FAILURES]``."""

    every: Expression
    retain: int | None
    timeout: Expression | None
    tolerate: int | None


@dataclass(frozen=True, slots=True)
class Column(Node):
    """A column of a source or table.

    A physical column has a type only; a computed one an expression only; a metadata column a type
    and the connector's key.
    """

    name: Name
    type: TypeNode | None
    not_null: bool = False
    expression: Expression | None = None
    metadata_key: str | None = None


@dataclass(frozen=True, slots=True)
class Watermark(Node):
    """``WATERMARK FOR column AS expression``.

    The expression is ``column - INTERVAL …`` or the column.
    """

    column: Name
    expression: Expression


@dataclass(frozen=True, slots=True)
class MalformedRows(Node):
    """``ON MALFORMED ROWS FAIL | SKIP | SEND TO stream``.

    ``action`` is ``FAIL``, ``SKIP`` or ``SEND``.
    """

    action: str
    stream: Name | None


@dataclass(frozen=True, slots=True)
class FutureRows(Node):
    """``ON FUTURE ROWS BEYOND interval SEND TO stream | SKIP``.

    ``action`` is ``SKIP`` or ``SEND``.
    """

    beyond: Expression
    action: str
    stream: Name | None


@dataclass(frozen=True, slots=True)
class CreateSource(Statement):
    """``CREATE SOURCE``."""

    name: Name
    columns: tuple[Column, ...]
    watermarks: tuple[Watermark, ...]
    malformed: MalformedRows | None
    future: FutureRows | None
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
    """``CREATE TABLE``: reference data for lookup joins."""

    name: Name
    columns: tuple[Column, ...]
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class CreateStream(Statement):
    """``CREATE STREAM name [WITH (…)] AS query``."""

    name: Name
    options: tuple[Option, ...]
    query: Query


@dataclass(frozen=True, slots=True)
class CreateSink(Statement):
    """``CREATE SINK name FROM stream WITH (…)``."""

    name: Name
    stream: Name
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """``name TYPE`` of a function, an aggregate, RETURNS or STATE."""

    name: Name
    type: TypeNode


@dataclass(frozen=True, slots=True)
class CreateFunction(Statement):
    """``CREATE FUNCTION``: ``python`` is ``module:name``, or ``body`` a SQL expression."""

    name: Name
    parameters: tuple[Parameter, ...]
    returns: TypeNode
    python: str | None
    body: Expression | None


@dataclass(frozen=True, slots=True)
class Lift(Node):
    """``name = expression`` in LIFT."""

    name: Name
    expression: Expression


@dataclass(frozen=True, slots=True)
class Combine(Node):
    """``name = SUM`` in COMBINE; the function in upper case."""

    name: Name
    function: str


@dataclass(frozen=True, slots=True)
class CreateAggregate(Statement):
    """``CREATE AGGREGATE name(…) LIFT (…) COMBINE (…) LOWER expression``."""

    name: Name
    parameters: tuple[Parameter, ...]
    lifts: tuple[Lift, ...]
    combines: tuple[Combine, ...]
    lower: Expression


@dataclass(frozen=True, slots=True)
class OperatorInput(Node):
    """``stream [AS alias] [PARTITION BY …] [ORDER BY column]``."""

    stream: Name
    alias: Name | None
    partition_by: tuple[Expression, ...]
    order_by: Expression | None


@dataclass(frozen=True, slots=True)
class StateCell(Node):
    """``name TYPE [DEFAULT e]`` in STATE."""

    name: Name
    type: TypeNode
    default: Expression | None


@dataclass(frozen=True, slots=True)
class TimeToLive(Node):
    """``cell interval`` in TTL."""

    cell: Name
    duration: Expression


@dataclass(frozen=True, slots=True)
class Timer(Node):
    """``name EVENT TIME | PROCESSING TIME`` in TIMERS.

    ``domain`` is ``EVENT`` or ``PROCESSING``.
    """

    name: Name
    domain: str


@dataclass(frozen=True, slots=True)
class CreateOperator(Statement):
    """``CREATE OPERATOR name [WITH (…)]``: keyed state and timers."""

    name: Name
    options: tuple[Option, ...]
    inputs: tuple[OperatorInput, ...]
    late_rows: LateRows | None
    state: tuple[StateCell, ...]
    ttl: tuple[TimeToLive, ...]
    timers: tuple[Timer, ...]
    returns: tuple[Parameter, ...]
    handlers: tuple[Handler, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter(Node):
    """The YAML between the two ``---`` lines, not yet read; the span is that of the text."""

    text: str


@dataclass(frozen=True, slots=True)
class Spec(Node):
    """A whole file; ``broken`` are the names that statements with syntax errors would declare."""

    front_matter: FrontMatter | None
    statements: tuple[Statement, ...]
    broken: tuple[Name, ...] = ()
