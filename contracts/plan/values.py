"""Small parts of which others of a plan consist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..json_records import Record, named
from ..records import dataclass


@dataclass(frozen=True, slots=True)
class Column(Record):
    """A column or key; a type of None is unknown to the compiler, and may be any."""

    name: str
    type: str | None


@dataclass(frozen=True, slots=True)
class Window(Record):
    """A window: ``kind`` is tumble, hop, cumulate or session; lengths are as written.

    ``column`` is its time column, in SQL. ``slide`` is of a hop, ``step`` of a cumulate, ``gap`` of
    a session. ``time`` is ``processing`` for windows by the clock.
    """

    kind: str
    column: str
    size: str | None
    slide: str | None
    gap: str | None
    step: str | None = None
    offset: str | None = None
    time: str | None = None

    def lengths(self) -> list[str]:
        """Return its lengths, each with its name."""
        named = {
            "size": self.size,
            "slide": self.slide,
            "step": self.step,
            "gap": self.gap,
            "offset": self.offset,
        }
        return [f"{name} {length}" for name, length in named.items() if length is not None]


@dataclass(frozen=True, slots=True)
class Branch(Record):
    """Rows that reach an operator from one input: a source, a table or another operator.

    ``where`` are the conditions that they passed. The rest gives the time of the window, keys,
    aggregates and columns in terms of the input, where they differ from their names. A program's
    input has all columns that it reads.
    """

    below: str = field(metadata=named("from"))
    where: tuple[str, ...]
    time: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    aggregates: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] | None = None
