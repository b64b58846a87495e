"""The status of a run, which it rewrites every few seconds: ``control/status.json``."""

from __future__ import annotations

import math
from dataclasses import field
from datetime import datetime

from ..json_records import WRITTEN, Malformed, Record
from ..records import dataclass
from .barrier import Manifest


@dataclass(frozen=True, slots=True)
class OperatorProgress(Record):
    """A stateful operator: rows of state now, and rows it dropped as late in this run.

    The state is None until a batch of this run has reported it.
    """

    id: str
    kind: str
    state_rows: int | None
    late_rows: int


@dataclass(frozen=True, slots=True)
class QueryProgress(Record):
    """A query at one moment. Rows are of this run, rates in rows per second of the last batch.

    ``batch`` is the last batch that Spark reported, -1 before the first; the rates of one that took
    no time are endless. The lag is the seconds from the watermark to the largest event time seen;
    both are None without a watermark. ``batch_seconds`` is the duration of the last batch, None
    before the first.
    """

    query: str
    batch: int
    rows_in: int
    rows_out: int
    rate_in: float
    rate_processed: float
    watermark: datetime | None
    lag_seconds: float | None
    operators: tuple[OperatorProgress, ...]
    active: bool
    batch_seconds: float | None = None

    def check(self) -> None:
        """Raise ``Malformed`` for an endless lag or duration."""
        for name in ("lag_seconds", "batch_seconds"):
            number = getattr(self, name)
            if number is not None:
                _check_finite(number, name)


@dataclass(frozen=True, slots=True)
class LastBarrier(Record):
    """The newest barrier, in a few words."""

    barrier: int
    epoch: int
    completed_at: datetime
    duration_ms: int

    @classmethod
    def of(cls, manifest: Manifest) -> LastBarrier:
        """Return what a manifest says of its barrier."""
        return cls(manifest.barrier, manifest.epoch, manifest.completed_at, manifest.duration_ms)


@dataclass(frozen=True, slots=True)
class Stall(Record):
    """Why a run has been stalled, and for how many seconds.

    ``at_work`` is whether a query has an epoch to finish: a batch may take that long. Otherwise
    nothing is in progress that could end the stall.
    """

    seconds: float
    reason: str
    at_work: bool

    def check(self) -> None:
        """Raise ``Malformed`` for an endless stall."""
        _check_finite(self.seconds, "seconds")


@dataclass(frozen=True, slots=True)
class StatusNote(Record):
    """The status of the run ``owner``: its epoch, its newest barrier, when the next is due."""

    owner: str
    at: datetime
    version: int
    generation: str
    phase: str
    epoch: int
    barrier: LastBarrier | None
    next_barrier_in_seconds: float
    stalled: Stall | None = field(default=None, kw_only=True, metadata=WRITTEN)
    queries: tuple[QueryProgress, ...]

    def check(self) -> None:
        """Raise ``Malformed`` if the next barrier is never due."""
        _check_finite(self.next_barrier_in_seconds, "next_barrier_in_seconds")


def _check_finite(number: float, name: str) -> None:
    if not math.isfinite(number):
        raise Malformed("is not a finite number", name)
