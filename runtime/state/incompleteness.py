"""Parts of a state that lack rows from before a cut: the notes that say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..base.fields import Fields


@dataclass(frozen=True, slots=True)
class Mark:
    """A cell of an operator, or all of it, marked since a savepoint was taken.

    `watermark_ms` is the watermark at that time; the mark ends at `until_ms`, None if never.
    """

    operator: str
    cell: str | None
    reason: str
    since: str
    watermark_ms: int
    until_ms: int | None

    @property
    def part(self) -> str:
        """The marked part, in words."""
        return self.operator if self.cell is None else f"{self.operator}: {self.cell}"

    def ended(self, watermark_ms: int) -> bool:
        """Whether everything marked has closed at a watermark."""
        return self.until_ms is not None and watermark_ms != 0 and watermark_ms >= self.until_ms

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


def read_marks(note: Fields) -> tuple[Mark, ...]:
    """The marks of a note or a manifest; raises ValueError for invalid ones."""
    return tuple(map(_read, note.items("marks"))) if note.get("marks") is not None else ()


def _read(found: Fields) -> Mark:
    found.instant("since")
    return Mark(
        operator=found.text("operator"),
        cell=found.maybe("cell", found.text),
        reason=found.text("reason"),
        since=found.text("since"),
        watermark_ms=found.whole("watermark_ms"),
        until_ms=found.maybe("until_ms", found.whole),
    )


def open_marks(marks: Iterable[Mark], watermarks: Mapping[str, int]) -> Iterator[Mark]:
    """Yields the marks that have not ended at the watermarks of their operators, in ms."""
    return (mark for mark in marks if not mark.ended(watermarks.get(mark.operator, 0)))
