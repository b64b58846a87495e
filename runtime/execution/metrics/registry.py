"""Every metric of a run: its name, kind, unit, labels and meaning. ``docs/metrics.md`` shows these.

Labels are names of the pipeline and of its parts, never options or values. All metrics have the
label ``pipeline``, so that several jobs can share a target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["counter", "gauge"]

_QUERY = ("query",)
_SOURCE = ("query", "source")
_OPERATOR = ("query", "operator", "kind")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. Counters begin with 0 in each run; their samples have the suffix ``_total``.

    `labels` are those besides ``pipeline``.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    unit: str
    help: str

    @property
    def sample(self) -> str:
        """The name under which its values are stored and queried."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


METRICS = tuple(
    Metric(*one)
    for one in (
        # The run.
        ("streamc_run_version", "gauge", (), "", "The version of the pipeline."),
        (
            *("streamc_run_started_timestamp_seconds", "gauge", (), "seconds"),
            "When this run began; it changes with each restart.",
        ),
        (
            *("streamc_run_active", "gauge", (), ""),
            "1 while the run goes on, 0 once it has ended (only a file shows that).",
        ),
        (
            *("streamc_run_failures", "gauge", (), ""),
            "How many failures have ended the run, 0 while it goes on.",
        ),
        (
            *("streamc_lease_age_seconds", "gauge", (), "seconds"),
            "Since when the lease of the state has not been renewed; it is valid for 30 s.",
        ),
        ("streamc_epoch", "gauge", (), "", "The epoch that was opened last."),
        (
            *("streamc_stalled_seconds", "gauge", (), "seconds"),
            "How long nothing has happened although something should, else 0.",
        ),
        # Queries.
        ("streamc_query_active", "gauge", _QUERY, "", "1 while the query runs, else 0."),
        (
            *("streamc_query_batches", "counter", _QUERY, "batches"),
            "Batches that were computed and given to the sinks.",
        ),
        (
            *("streamc_query_batch_duration_seconds", "gauge", _QUERY, "seconds"),
            "How long the last batch took, which is the query's part of an epoch.",
        ),
        ("streamc_query_rows_in", "counter", _QUERY, "", "Rows read from all sources."),
        ("streamc_query_rows_out", "counter", _QUERY, "", "Rows of the query's result."),
        (
            *("streamc_query_watermark_timestamp_seconds", "gauge", _QUERY, "seconds"),
            "The watermark; absent without one.",
        ),
        (
            *("streamc_query_watermark_lag_seconds", "gauge", _QUERY, "seconds"),
            "From the watermark to the largest event time seen; absent without a watermark.",
        ),
        (
            *("streamc_query_leaks", "counter", _QUERY, ""),
            "Identities of the row accounting that did not hold.",
        ),
        # Sources, as far as they are counted.
        ("streamc_source_rows_in", "counter", _SOURCE, "", "Records that were read."),
        (
            *("streamc_source_rows_out", "counter", _SOURCE, ""),
            "Rows that were passed on, after the filters that follow.",
        ),
        (
            *("streamc_source_malformed_rows", "counter", _SOURCE, "rows"),
            "Records that are not rows.",
        ),
        (
            *("streamc_source_filtered_rows", "counter", _SOURCE, "rows"),
            "Rows that filters after the source removed.",
        ),
        # Operators.
        ("streamc_operator_rows_in", "counter", _OPERATOR, "", "Rows that arrived."),
        ("streamc_operator_rows_out", "counter", _OPERATOR, "", "Rows that were passed on."),
        (
            *("streamc_operator_late_rows", "counter", _OPERATOR, "rows"),
            "Rows dropped since the watermark had passed them; groups of rows for aggregates.",
        ),
        (
            *("streamc_operator_duplicate_rows", "counter", _OPERATOR, "rows"),
            "Rows dropped since their key was known.",
        ),
        (
            *("streamc_operator_filtered_rows", "counter", _OPERATOR, "rows"),
            "Rows that filters after the operator removed.",
        ),
        (
            *("streamc_operator_expired_entries", "counter", _OPERATOR, "entries"),
            "Entries of state that were removed.",
        ),
        (
            *("streamc_operator_state_entries", "gauge", _OPERATOR, "entries"),
            "Entries of state after the last batch.",
        ),
        (
            *("streamc_operator_state_bytes", "gauge", _OPERATOR, "bytes"),
            "Bytes of state at the newest barrier of this run.",
        ),
        # Sinks.
        (
            *("streamc_sink_rows", "counter", ("query", "sink"), "rows"),
            "Rows that were given to the sink.",
        ),
        # Barriers of this run.
        ("streamc_barriers", "counter", (), "", "Barriers that were completed."),
        (
            *("streamc_barrier_failures", "counter", (), ""),
            "Barriers that failed, or were too late.",
        ),
        ("streamc_barrier_number", "gauge", (), "", "The number of the newest barrier."),
        (
            *("streamc_barrier_completed_timestamp_seconds", "gauge", (), "seconds"),
            "When the newest barrier was completed; its age is `time()` minus this.",
        ),
        (
            *("streamc_barrier_duration_seconds", "gauge", (), "seconds"),
            "From the request of the newest barrier until it was complete.",
        ),
        (
            *("streamc_barrier_size_bytes", "gauge", (), "bytes"),
            "The length of all files that the newest barrier relies on.",
        ),
    )
)
"""All metrics, in the order in which they are shown."""

BY_NAME = {metric.name: metric for metric in METRICS}
