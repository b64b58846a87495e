"""The columns of a relation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ...contracts.records import dataclass
from ...dsl.reports.source import Span
from .types import Type


@dataclass(frozen=True, slots=True)
class Duration:
    """A fixed length of time: microseconds, and its text for Spark."""

    micros: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Behind:
    """Why rows are far behind the watermark: what emits them, and how to proceed.

    A step that uses such an event time would drop them as late.
    """

    why: str
    fix: str
    span: Span


@dataclass(frozen=True, slots=True)
class Field:
    """A column.

    ``watermark`` is the delay of its watermark when it is an event time, else None; ``of_window``
    says that it is the same in all rows of one window (its start or its end); ``proctime`` that it
    is the processing time of the batch that read the row; ``pane`` that it says which pane of a
    window a row is. ``behind`` is set for an event time that the watermark does not bound.
    """

    name: str
    type: Type
    nullable: bool = True
    watermark: Duration | None = None
    of_window: bool = False
    proctime: bool = False
    pane: bool = False
    behind: Behind | None = None

    def __str__(self) -> str:
        mark = f" watermark {self.watermark}" if self.watermark else ""
        mark += " proctime" if self.proctime else ""
        return f"{self.name} {self.type}{'' if self.nullable else ' NOT NULL'}{mark}"


@dataclass(frozen=True, slots=True)
class LostTime:
    """An event time that a relation does not pass on.

    The relation ``where`` does not select it, or selects only the expression ``made`` of it, in
    canonical text.
    """

    where: str
    time: str
    made: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a relation in order.

    Names are looked up ignoring case, as in Spark. ``lost`` says how the event time of the
    relation's input was lost, for messages.
    """

    fields: tuple[Field, ...]
    lost: LostTime | None = field(default=None, compare=False, repr=False)

    def find(self, name: str) -> Field | None:
        """Return the column of that name."""
        folded = name.lower()
        return next((f for f in self.fields if f.name.lower() == folded), None)

    def names(self) -> tuple[str, ...]:
        """Return the column names in order."""
        return tuple(f.name for f in self.fields)

    def event_times(self) -> tuple[Field, ...]:
        """Return the columns that carry a watermark."""
        return tuple(f for f in self.fields if f.watermark is not None)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __str__(self) -> str:
        return ", ".join(str(f) for f in self.fields)
