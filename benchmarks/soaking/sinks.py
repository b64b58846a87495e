"""What each sink of a soak holds compared with what it should hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.oracle import Rows
from harness.outputs import Difference, difference

from . import outputs
from .inputs import Row
from .oracle import Oracle

OF_PARTS = {
    "copy": ("copy",),
    "windows": ("windows",),
    "console": ("windows_shown",),
    "pairs": ("pairs",),
    "awaited": ("answers",),
    "reminders": ("reminded",),
    "hours": ("totals", "kept"),
    "postgres": ("table_of_totals",),
    "beats": ("beats",),
    "kafka": ("echoes",),
}
"""The sinks that a part of a pipeline brings."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the sinks write: folders in `out`, the process's log, files next to it, a server."""

    out: Path
    log: Path
    kept: Path
    totals: Path
    server: str | None = None

    def rows(self, sink: str) -> Rows:
        """The rows that a sink holds."""
        special: Mapping[str, Callable[[], Rows]] = {
            "windows_shown": lambda: outputs.shown_rows(self.log),
            "kept": lambda: outputs.kept_rows(self.kept),
            "totals": lambda: outputs.totals_in_sqlite(self.totals),
            "table_of_totals": lambda: outputs.totals_on_server(self.server or ""),
        }
        return special.get(sink, lambda: outputs.rows_in_folder(self.out / sink))()


def compare(parts: Sequence[str], places: Places, rows: Iterable[Row]) -> dict[str, Difference]:
    """How the sinks of these parts differ from what they should hold of all rows written."""
    oracle = Oracle(rows)
    found = {}
    for sink in (sink for part in parts for sink in OF_PARTS.get(part, ())):
        held = places.rows(sink)
        # # How long a clock has run is unknown, but it skips no number.
        right = _without_gaps(held) if sink == "beats" else oracle.of(sink)
        found[sink] = difference(held, right)
    return found


def _without_gaps(held: Rows) -> Rows:
    return Counter((number,) for number in range(max((n for (n,) in held), default=-1) + 1))
