"""Warnings about the input of a run: each once, however many queries and batches find it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..kinds.counts import OddValue


@dataclass(frozen=True, slots=True)
class OddInstant:
    """A number in a TIMESTAMP of a source or table that is unlikely to be seconds.

    >>> print(OddInstant("source `e`", "at", "1767261600123", "+57972-04-16T16:02:03Z"))
    source `e` has 1767261600123 in `at`, which as seconds is +57972-04-16T16:02:03Z: if it counts \
milliseconds, the source needs `timestamp_unit = 'millis'`; ON FUTURE ROWS BEYOND INTERVAL … keeps \
such rows out
    """

    owner: str
    column: str
    number: str
    instant: str

    @classmethod
    def of(cls, owner: str, found: OddValue) -> OddInstant:
        """The kernel's finding about a source or a table."""
        return cls(owner, found.column, found.number, found.instant)

    def __str__(self) -> str:
        kind = self.owner.partition(" ")[0]
        what = f"{self.owner} has {self.number} in `{self.column}`"
        cure = f"if it counts milliseconds, the {kind} needs `timestamp_unit = 'millis'`"
        if kind == "source" and not self.number.startswith("-"):
            cure += "; ON FUTURE ROWS BEYOND INTERVAL … keeps such rows out"
        return f"{what}, which as seconds is {self.instant}: {cure}"


class Remarks:
    """Warnings about sources and tables, one for each; several threads may find some."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def take(self, found: Iterable[OddInstant]) -> None:
        """Reports a source or table that has not been reported yet."""
        for one in found:
            with self._lock:
                new = one.owner not in self._told
                self._told.add(one.owner)
            if new:
                self._tell(f"warning: {one}")
