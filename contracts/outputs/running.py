"""The status of a job, and the barriers of its state."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ..notes.marks import Mark


class LastBarrier(TypedDict):
    """The barrier that was completed last."""

    barrier: int
    epoch: int
    completed_at: str
    duration_ms: int


class OperatorProgress(TypedDict):
    """A stateful operator; its number of rows is unknown before the first batch of this run."""

    id: str
    kind: str
    state_rows: int | None
    late_rows: int


class QueryProgress(TypedDict):
    """A query: rows of this run, rates of the last batch in rows per second.

    The batch is -1 before the first. A rate is null if the batch took no time. ``batch_seconds`` is
    how long the last batch took, absent before the first.
    """

    query: str
    batch: int
    rows_in: int
    rows_out: int
    rate_in: float | None
    rate_processed: float | None
    watermark: str | None
    lag_seconds: float | None
    operators: list[OperatorProgress]
    active: bool
    batch_seconds: NotRequired[float]


class Status(TypedDict):
    """``streamc status``; ``epoch`` and what follows it are present once an epoch was opened.

    ``partitions`` is the number that the state lies in, None before its first batch.
    """

    format: Literal[1]
    kind: Literal["status"]
    running: bool
    pipeline: str
    pid: int | None
    host: str | None
    since: str | None
    age_seconds: float | None
    version: int | None
    generation: str | None
    partitions: int | None
    phase: str | None
    epoch: NotRequired[int]
    barrier: NotRequired[LastBarrier | None]
    next_barrier_in_seconds: NotRequired[float]
    stalled: str | None
    queries: list[QueryProgress]
    marks: list[Annotated[dict[str, Any], Mark]]


class BarrierSummary(TypedDict):
    """A completed barrier; if its file is damaged, only the number is known.

    ``problem`` is what prevents a rollback to it.
    """

    barrier: int
    generation: str
    epoch: NotRequired[int]
    pipeline: NotRequired[str]
    version: NotRequired[int]
    requested_at: NotRequired[str]
    completed_at: NotRequired[str]
    duration_ms: NotRequired[int]
    state_rows: NotRequired[int]
    state_bytes: NotRequired[int]
    rows_in: NotRequired[int]
    rows_out: NotRequired[int]
    restorable: bool
    problem: str | None


class Barriers(TypedDict):
    """``streamc barriers list``, oldest first."""

    format: Literal[1]
    kind: Literal["barriers"]
    barriers: list[BarrierSummary]


class OperatorState(TypedDict):
    """The state of a stateful operator; ``number`` is Spark's number for it."""

    id: str
    number: int
    kind: str
    rows: int
    bytes: int
    partitions: int


class QueryCut(TypedDict):
    """The position of a query: its last batch, and its rows since the previous barrier."""

    batch: int
    watermark: str | None
    acknowledged_ms: int
    operators: list[OperatorState]
    rows_in: int
    rows_out: int


class SourceCut(TypedDict):
    """The position of a source, as the source itself writes it."""

    position: Any


class SinkCut(TypedDict):
    """The last batch acknowledged by a sink; files and bytes are for sinks that write files."""

    batch: int
    rows: int
    files: int | None
    bytes: int | None
    connector: str | None
    upserts: bool


class Barrier(BarrierSummary):
    """``streamc barriers show``.

    The ledger has the counts of each source and operator, by query; for each file there are the
    length and the CRC-32.
    """

    format: Literal[1]
    kind: Literal["barrier"]
    queries: NotRequired[dict[str, QueryCut]]
    sources: NotRequired[dict[str, SourceCut]]
    sinks: NotRequired[dict[str, SinkCut]]
    ledger: NotRequired[dict[str, dict[str, Any]]]
    files: NotRequired[dict[str, tuple[int, str]]]
