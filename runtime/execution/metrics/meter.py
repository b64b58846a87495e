"""The values of a run's metrics: a view that counts what it shows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from ....contracts.notes.barrier import Manifest
from ....contracts.notes.ledger import LedgerNote
from ....contracts.notes.status import QueryProgress
from ....contracts.plan import Plan
from ..status import Standing
from ..views import View
from .registry import BY_NAME, METRICS, Metric

_OF_SOURCE = {
    "in": "streamc_source_rows_in",
    "out": "streamc_source_rows_out",
    "malformed": "streamc_source_malformed_rows",
    "filtered": "streamc_source_filtered_rows",
}
_OF_OPERATOR = {
    "in": "streamc_operator_rows_in",
    "out": "streamc_operator_rows_out",
    "late": "streamc_operator_late_rows",
    "duplicates": "streamc_operator_duplicate_rows",
    "filtered": "streamc_operator_filtered_rows",
    "expired": "streamc_operator_expired_entries",
}
"""The metrics of the counts in a ledger. What a kind does not count stays 0."""

Labels = tuple[str, ...]


class Meter:
    """The values of all metrics at one moment, by the values of their labels.

    Any thread may change and read them.
    """

    def __init__(self, plan: Plan) -> None:
        """Counters begin with 0, so that the first failure of a run is an increase."""
        self.pipeline = plan.pipeline
        self.lease_age: Callable[[], float] | None = None
        self._plan = plan
        self._lock = threading.Lock()
        self._values: dict[str, dict[Labels, float]] = {metric.name: {} for metric in METRICS}
        for metric in METRICS:
            if metric.kind == "counter":
                for labels in self._parts(metric):
                    self.set(metric.name, 0, *labels)
        self.set("streamc_run_version", plan.version)
        self.set("streamc_run_started_timestamp_seconds", time.time())
        self.set("streamc_run_active", 1)
        self.set("streamc_run_failures", 0)

    def set(self, name: str, value: float, *labels: str) -> None:
        """Replace a value."""
        assert len(labels) == len(BY_NAME[name].labels)
        with self._lock:
            self._values[name][labels] = value

    def add(self, name: str, value: float, *labels: str) -> None:
        """Increase a counter."""
        with self._lock:
            known = self._values[name]
            known[labels] = known.get(labels, 0) + value

    def values(self) -> Iterator[tuple[Metric, Mapping[Labels, float]]]:
        """Yield all metrics that have values, with a copy of them."""
        if self.lease_age is not None:
            self.set("streamc_lease_age_seconds", self.lease_age())
        with self._lock:
            found = {name: dict(values) for name, values in self._values.items()}
        for name, values in found.items():
            if values:
                yield BY_NAME[name], values

    def progress(self, queries: Sequence[QueryProgress]) -> None:
        """Take how far the queries are."""
        for query in queries:
            id = query.query
            self.set("streamc_query_active", int(query.active), id)
            self.set("streamc_query_rows_in", query.rows_in, id)
            self.set("streamc_query_rows_out", query.rows_out, id)
            for sink in self._plan.queries[id].sinks:
                self.set("streamc_sink_rows", query.rows_out, id, sink)
            if query.batch_seconds is not None:
                self.set("streamc_query_batch_duration_seconds", query.batch_seconds, id)
            if query.watermark is not None:
                name = "streamc_query_watermark_timestamp_seconds"
                self.set(name, query.watermark.timestamp(), id)
            if query.lag_seconds is not None:
                self.set("streamc_query_watermark_lag_seconds", query.lag_seconds, id)
            for one in query.operators:
                if one.state_rows is not None:
                    name = "streamc_operator_state_entries"
                    self.set(name, one.state_rows, id, one.id, one.kind)

    def ledger(self, note: LedgerNote) -> None:
        """Count a batch."""
        self.add("streamc_query_batches", 1, note.query)
        self.add("streamc_query_leaks", len(note.leaks), note.query)
        for name, entry in note.entries.items():
            of_source = entry["kind"] == "source"
            labels = (note.query, name) if of_source else (note.query, name, entry["kind"])
            for count, metric in (_OF_SOURCE if of_source else _OF_OPERATOR).items():
                if count in entry:
                    self.add(metric, entry[count], *labels)

    def standing(self, standing: Standing) -> None:
        """Take the status of the run as a whole."""
        self.set("streamc_epoch", standing.epoch)
        stall = standing.stall
        self.set("streamc_stalled_seconds", 0 if stall is None else stall.seconds)

    def barrier(self, manifest: Manifest) -> None:
        """Take a completed barrier."""
        self.add("streamc_barriers", 1)
        self.set("streamc_barrier_number", manifest.barrier)
        completed = manifest.completed_at.timestamp()
        self.set("streamc_barrier_completed_timestamp_seconds", completed)
        self.set("streamc_barrier_duration_seconds", manifest.duration_ms / 1000)
        size = sum(length for length, _ in manifest.files.values())
        self.set("streamc_barrier_size_bytes", size)
        for query, cut in manifest.queries.items():
            for one in cut.operators:
                self.set("streamc_operator_state_bytes", one.bytes, query, one.id, one.kind)

    def ended(self, failures: int) -> None:
        """The run is over."""
        self.set("streamc_run_active", 0)
        self.set("streamc_run_failures", failures)

    def _parts(self, metric: Metric) -> Iterator[Labels]:
        """Yield the labels of all parts of the pipeline that a metric has."""
        for query in self._plan.queries.values():
            match metric.labels:
                case ("query",):
                    yield (query.id,)
                case ("query", "source"):
                    yield from ((query.id, source) for source in query.sources)
                case ("query", "sink"):
                    yield from ((query.id, sink) for sink in query.sinks)
                case ("query", "operator", "kind"):
                    for use in query.operators:
                        yield query.id, use.id, self._plan.operators[use.id].KIND
        if not metric.labels:
            yield ()


class MeteredView:
    """Passes everything on to another view, and counts it; `updated` is called at each update."""

    def __init__(self, view: View, meter: Meter, updated: Callable[[], None]) -> None:
        self._view = view
        self._meter = meter
        self._updated = updated

    def start(self, plan: Plan) -> None:
        self._view.start(plan)

    def update(self, queries: Sequence[QueryProgress]) -> None:
        self._meter.progress(queries)
        self._updated()
        self._view.update(queries)

    def standing(self, standing: Standing) -> None:
        self._meter.standing(standing)
        self._view.standing(standing)

    def ledger(self, note: LedgerNote) -> None:
        self._meter.ledger(note)
        self._view.ledger(note)

    def barrier(self, manifest: Manifest) -> None:
        self._meter.barrier(manifest)
        self._view.barrier(manifest)

    def barrier_failed(self, reason: str) -> None:
        self._meter.add("streamc_barrier_failures", 1)
        self._view.barrier_failed(reason)

    def message(self, text: str) -> None:
        self._view.message(text)

    def note(self, text: str) -> None:
        self._view.note(text)

    def finish(self, queries: Sequence[QueryProgress], outcome: str) -> None:
        self._meter.progress(queries)
        self._view.finish(queries, outcome)

    def close(self) -> None:
        self._view.close()
