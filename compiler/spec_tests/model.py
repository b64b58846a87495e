"""A test of a spec, called a case here, with every name and value checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ...contracts.migration import Migration
from ...contracts.records import dataclass
from ...dsl.reports.source import Span
from ...dsl.yaml.nodes import Sequence
from ..model.types import Type
from .values import Value

TOLERANCE = {"DOUBLE": 1e-9, "FLOAT": 1e-6}
"""How far apart two numbers may be by default, relative to the larger (or to 1)."""


@dataclass(frozen=True, slots=True)
class Rows:
    """One micro-batch: the lines of text for each source."""

    lines: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Fill:
    """New content of tables, as lines of text."""

    lines: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Advance:
    """Watermarks advanced without rows, in microseconds by source."""

    instants: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Drain:
    """All watermarks advance past every row."""


@dataclass(frozen=True, slots=True)
class Restart:
    """All queries are stopped and started again."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The previous batch is killed after it ran and before it is committed, and runs again."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """The effects of the last batches on state and sinks are undone, and they run again.

    ``first`` is the number of the list item of the earliest of them.
    """

    first: int


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sink."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Row:
    """An expected row: values by column, and its location."""

    values: Mapping[str, Value]
    span: Span


@dataclass(frozen=True, slots=True)
class Expect:
    """What a sink must have got since its last expectation.

    ``ordered``: in this order. ``contains``: these rows, in these columns, and maybe others.
    ``node`` is the list of rows as written. With ``state`` the rows are what the operator named by
    ``sink`` keeps for each key.
    """

    sink: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    node: Sequence = field(compare=False, repr=False)
    ordered: bool = False
    contains: bool = False
    tolerance: float | None = None
    state: bool = False

    @property
    def place(self) -> str:
        """The subject of the expectation, in words."""
        return f"state of {self.sink}" if self.state else f"sink {self.sink}"


@dataclass(frozen=True, slots=True)
class Restore:
    """A savepoint is taken after the previous batches, and the same version continues from it."""


@dataclass(frozen=True, slots=True)
class Save:
    """A savepoint is taken after the previous batches; an upgrade follows."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Another version of the spec continues from the savepoint.

    ``files`` are its compiled files by name, the script first; ``migration`` is the document for
    the runtime, None for a version that keeps the same state; ``first_lines`` as in ``Case``.
    """

    spec: str
    folder: str
    files: Mapping[str, str]
    migration: Migration | None
    variables: Mapping[str, str]
    profile: str | None
    first_lines: Mapping[str, tuple[str, ...]]


Step = (
    Fill | Rows | Advance | Drain | Restart | Crash | Rollback | Restore | Save | Upgrade | Expect
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A step and the number of its list item, counted from one."""

    step: Step
    number: int


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a spec, in each of the ``ways`` in which its rows arrive.

    ``first_lines`` are the lines with which every file of a source or table begins.
    """

    name: str
    variables: Mapping[str, str]
    profile: str | None
    ways: tuple[str, ...]
    steps: tuple[Placed, ...]
    first_lines: Mapping[str, tuple[str, ...]]
    span: Span
