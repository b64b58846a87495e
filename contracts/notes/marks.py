"""Marks: parts of a state that lack rows from before a cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from ..json_records import Malformed, Record
from ..records import dataclass


@dataclass(frozen=True, slots=True)
class Mark(Record):
    """A cell of an operator, or all of it, marked since a savepoint was taken.

    ``watermark_ms`` is the watermark then; the mark ends at the watermark ``until_ms``, or never if
    that is None.
    """

    operator: str
    cell: str | None
    reason: str
    since: str
    watermark_ms: int
    until_ms: int | None

    def check(self) -> None:
        """Raise ``Malformed`` for anything but an instant."""
        try:
            whole = datetime.fromisoformat(self.since).tzinfo is not None
        except ValueError:
            whole = False
        if not whole:
            raise Malformed("is not an instant", "since")

    @property
    def part(self) -> str:
        """The marked part, in words."""
        return self.operator if self.cell is None else f"{self.operator}: {self.cell}"

    def ended(self, watermark_ms: int) -> bool:
        """Return whether everything marked has closed at a watermark."""
        return self.until_ms is not None and watermark_ms != 0 and watermark_ms >= self.until_ms


def open_marks(marks: Iterable[Mark], watermarks: Mapping[str, int]) -> Iterator[Mark]:
    """Yield the marks that have not ended at the watermarks of their operators, in ms."""
    return (mark for mark in marks if not mark.ended(watermarks.get(mark.operator, 0)))
