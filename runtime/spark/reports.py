"""Spark's progress reports of one query, batch by batch, until they are no longer needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..plan.plan import OperatorUse

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


class Reports:
    """The reports of a running query. Spark itself keeps the last hundred."""

    def __init__(self, uses: Sequence[OperatorUse], query: StreamingQuery, kernel: Any) -> None:
        self.uses = tuple(uses)
        self._query: Any = query._jsq
        self._kernel = kernel
        self._found: dict[int, Mapping[str, Any]] = {}
        self._newest = -1

    def look(self) -> None:
        """Reads what has been reported since the last look."""
        for report in json.loads(self._kernel.Progress.since(self._query, self._newest)):
            self._newest = int(report["batchId"])
            self._found[self._newest] = report

    def of(self, batch: int) -> Mapping[str, Any]:
        """The report of a batch of this run that has not been forgotten."""
        if batch not in self._found:
            self.look()
        return self._found.get(batch, {})

    def rows_in(self, batch: int) -> int:
        """The rows read in the batches up to this one that have not been forgotten."""
        known = (report for number, report in self._found.items() if number <= batch)
        return sum(int(report.get("numInputRows") or 0) for report in known)

    def watermark(self, batch: int) -> datetime | None:
        """The watermark that a batch was run with."""
        return instant((self.of(batch).get("eventTime") or {}).get("watermark"))

    def forget(self, batch: int) -> None:
        """Drops the reports of the batches up to this one."""
        for number in [number for number in self._found if number <= batch]:
            del self._found[number]


def instant(text: str | None) -> datetime | None:
    """A time in Spark's form; its zero stands for no watermark yet.

    A time that a datetime cannot hold becomes the first or last one that it can.
    """
    if text is None:
        return None
    if text.startswith(("+", "-")):
        return (datetime.max if text.startswith("+") else datetime.min).replace(tzinfo=UTC)
    found = datetime.fromisoformat(text)
    return None if found == datetime(1970, 1, 1, tzinfo=UTC) else found
