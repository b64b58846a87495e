"""A test of a spec, called a case here: every name is known, every value fits its column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ...contracts.migration import Migration
from ...contracts.records import dataclass
from ...dsl.source import Span
from ...dsl.yaml_nodes import Sequence
from ..model.types import Type
from .values import Value

TOLERANCE = {"DOUBLE": 1e-9, "FLOAT": 1e-6}
"""How far two numbers may be apart by default, as a part of the larger (or of 1)."""


@dataclass(frozen=True, slots=True)
class Rows:
    """One micro-batch: the lines of text that each source gets."""

    lines: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Fill:
    """Tables hold these lines of text from now on."""

    lines: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Advance:
    """Watermarks that are moved without rows, in microseconds by source."""

    instants: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Drain:
    """All watermarks are moved behind every row."""


@dataclass(frozen=True, slots=True)
class Restart:
    """All queries are stopped and started again."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The batch before it is killed after it ran and before it is committed, and runs again."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """What the last batches have done to state and sinks is undone, and they run again.

    ``first`` is the number of the list item that the earliest of them comes from.
    """

    first: int


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sink."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Row:
    """An expected row: values by column, and where it stands."""

    values: Mapping[str, Value]
    span: Span


@dataclass(frozen=True, slots=True)
class Expect:
    """What a sink must have got since it was last looked at.

    ``ordered``: in this order. ``contains``: these rows, in these columns, and maybe others.
    ``node`` is the list of rows as it is written. With ``state`` the rows are what the operator
    that ``sink`` names keeps of each key.
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
        """What is looked at, in words."""
        return f"state of {self.sink}" if self.state else f"sink {self.sink}"


@dataclass(frozen=True, slots=True)
class Restore:
    """A savepoint is taken of what has run, and the same version goes on from it."""


@dataclass(frozen=True, slots=True)
class Save:
    """A savepoint is taken of what has run; an upgrade follows."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Another version of the spec goes on from the savepoint.

    ``files`` are those that its compilation gives, the script first, by names; ``migration`` is the
    document that the runtime is given, None for a version that keeps the same state;
    ``first_lines`` as in ``Case``.
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
    """A step and the number of the list item that it comes from, counted from one."""

    step: Step
    number: int


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a spec, in each of the ``ways`` in which its rows are to arrive.

    ``first_lines`` are those that every file of a source or table begins with.
    """

    name: str
    variables: Mapping[str, str]
    profile: str | None
    ways: tuple[str, ...]
    steps: tuple[Placed, ...]
    first_lines: Mapping[str, tuple[str, ...]]
    span: Span
