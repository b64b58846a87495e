"""How far each query is, from Spark's own progress reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...contracts.notes.status import OperatorProgress, QueryProgress
from ..connectors.batches import BatchWriter
from ..plan.plan import OperatorUse
from ..spark.failures import spark_errors
from ..spark.reports import instant

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


class QueryMonitor:
    """Summarises one running query."""

    def __init__(
        self,
        id: str,
        uses: Sequence[OperatorUse],
        query: StreamingQuery,
        writer: BatchWriter,
        kernel: Any,
    ) -> None:
        self._id = id
        self._uses = uses
        self._query: Any = query._jsq
        self._writer = writer
        self._kernel = kernel
        self._batch = -1
        self._rows_in = 0
        self._late = [0] * len(uses)
        self._last: dict[str, Any] = {}

    def look(self) -> QueryProgress:
        """Reads what was reported since the last look. Spark keeps the last 100 reports."""
        active = bool(self._query.isActive())
        for report in json.loads(self._kernel.Progress.since(self._query, self._batch)):
            self._take(report)
        return self._snapshot(active=active)

    def last_look(self) -> QueryProgress:
        """A look after the end, from what is known when Spark has ended."""
        try:
            return self.look()
        except spark_errors():
            return self._snapshot(active=False)

    def _take(self, report: dict[str, Any]) -> None:
        batch = int(report["batchId"])
        self._batch = max(self._batch, batch)
        reported = int(report.get("numInputRows") or 0)
        # Spark finds no source in some plans, such as those of late and of malformed rows, and
        # under load its reports are late or missing: the ledgers do not wait for them.
        read = self._writer.take_rows_read(batch)
        self._rows_in += reported if read is None else 0
        if read is not None and read != reported:
            report = {**report, **_rates(report, read)}
        for number, state in enumerate(report.get("stateOperators", ())[: len(self._late)]):
            self._late[number] += int(state.get("numRowsDroppedByWatermark") or 0)
        self._last = report

    def _snapshot(self, *, active: bool) -> QueryProgress:
        report = self._last
        times = report.get("eventTime") or {}
        watermark = instant(times.get("watermark"))
        newest = instant(times.get("max"))
        return QueryProgress(
            query=self._id,
            batch=self._batch,
            rows_in=self._rows_in + self._writer.rows_in,
            rows_out=self._writer.rows_out,
            rate_in=float(report.get("inputRowsPerSecond") or 0.0),
            rate_processed=float(report.get("processedRowsPerSecond") or 0.0),
            watermark=watermark,
            lag_seconds=(newest - watermark).total_seconds() if newest and watermark else None,
            operators=self._operators(report.get("stateOperators", ())),
            active=active,
            batch_seconds=_seconds(report),
        )

    def _operators(self, reported: Sequence[dict[str, Any]]) -> tuple[OperatorProgress, ...]:
        found = []
        for number, use in enumerate(self._uses):
            rows = int(reported[number]["numRowsTotal"]) if number < len(reported) else None
            found.append(
                OperatorProgress(use.operator.id, use.operator.KIND, rows, self._late[number])
            )
        return tuple(found)


def _seconds(report: Mapping[str, Any]) -> float | None:
    millis = (report.get("durationMs") or {}).get("triggerExecution")
    return None if millis is None else int(millis) / 1000


def _rates(report: Mapping[str, Any], rows: int) -> dict[str, float]:
    """The rates of a batch of which Spark has not seen all rows, by its duration."""
    millis = float((report.get("durationMs") or {}).get("triggerExecution") or 0)
    rate = rows * 1000 / millis if millis > 0 else 0.0
    return {"inputRowsPerSecond": rate, "processedRowsPerSecond": rate}
