"""What a run shows: the protocol, and plain lines for output without a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, TextIO

from ...contracts.notes.barrier import Manifest
from ...contracts.notes.ledger import LedgerNote
from ...contracts.notes.status import QueryProgress
from ...contracts.plan import Plan
from ...contracts.terminal import print_raw, safe
from .status import RUNNING, Standing


class View(Protocol):
    """Shows a run. Calls may come from several threads, `update` about twice a second."""

    def start(self, plan: Plan) -> None: ...

    def update(self, queries: Sequence[QueryProgress]) -> None: ...

    def standing(self, standing: Standing) -> None:
        """The status of the run as a whole, before each `update`."""

    def ledger(self, note: LedgerNote) -> None:
        """A batch of a query was written and recorded."""

    def barrier(self, manifest: Manifest) -> None:
        """A barrier is complete."""

    def barrier_failed(self, reason: str) -> None:
        """A requested barrier failed, or was too late."""

    def message(self, text: str) -> None:
        """Shows text that stays, such as a batch of a console sink."""

    def note(self, text: str) -> None:
        """Shows a line about the run itself, possibly before `start`."""

    def finish(self, queries: Sequence[QueryProgress], outcome: str) -> None: ...

    def close(self) -> None:
        """Leaves the terminal as it was; also called when a run ends without `finish`."""


class SilentView:
    """Shows only what console sinks print."""

    def start(self, plan: Plan) -> None:
        """Nothing to show."""

    def update(self, queries: Sequence[QueryProgress]) -> None:
        """Nothing to show."""

    def standing(self, standing: Standing) -> None:
        """Nothing to show."""

    def ledger(self, note: LedgerNote) -> None:
        """Nothing to show."""

    def barrier(self, manifest: Manifest) -> None:
        """Nothing to show."""

    def barrier_failed(self, reason: str) -> None:
        self.note(f"barrier failed: {reason}")

    def message(self, text: str) -> None:
        print_raw(f"{text}\n")

    def note(self, text: str) -> None:
        print(safe(text), file=sys.stderr, flush=True)

    def finish(self, queries: Sequence[QueryProgress], outcome: str) -> None:
        """Nothing to show."""

    def close(self) -> None:
        """Nothing to restore."""


class PlainView:
    """One line per query, when something has changed and at most every `every` seconds.

    Progress goes to standard error, batches of console sinks to standard output.
    """

    def __init__(self, every: float = 2.0, out: TextIO | None = None) -> None:
        self._every = every
        self._out = out
        self._shown: dict[str, tuple[int, int]] = {}
        self._next = 0.0
        self._lock = threading.Lock()

    def start(self, plan: Plan) -> None:
        names = ", ".join(plan.queries)
        self._line(f"{plan.pipeline}: running {names}")

    def update(self, queries: Sequence[QueryProgress]) -> None:
        from time import monotonic

        if monotonic() < self._next:
            return
        self._next = monotonic() + self._every
        for query in queries:
            state = (query.rows_in, query.rows_out)
            if query.batch >= 0 and self._shown.get(query.query) != state:
                self._shown[query.query] = state
                self._line(progress_line(query))

    def standing(self, standing: Standing) -> None:
        """Nothing to show: each barrier has a line."""

    def ledger(self, note: LedgerNote) -> None:
        """Nothing to show: progress has the rows."""

    def barrier(self, manifest: Manifest) -> None:
        shown = f"barrier {manifest.barrier}: epoch {manifest.epoch}"
        self._line(f"{shown}, {manifest.state_rows:,} rows of state, {manifest.duration_ms} ms")

    def barrier_failed(self, reason: str) -> None:
        self._line(f"barrier failed: {reason}")

    def message(self, text: str) -> None:
        with self._lock:
            print_raw(f"{text}\n")

    def note(self, text: str) -> None:
        self._line(text)

    def finish(self, queries: Sequence[QueryProgress], outcome: str) -> None:
        for query in queries:
            self._line(progress_line(query, final=True))
        self._line(outcome)

    def close(self) -> None:
        """Nothing to restore after lines."""

    def _line(self, text: str) -> None:
        with self._lock:
            print(safe(text), file=self._out or sys.stderr, flush=True)


def progress_line(query: QueryProgress, *, final: bool = False) -> str:
    """`per_minute: batch 3, 120 in, 4 out, …` for one query."""
    parts = [f"batch {query.batch}" if query.batch >= 0 else "no batch yet"]
    parts.append(f"{query.rows_in:,} rows in")
    parts.append(f"{query.rows_out:,} out")
    if not final:
        parts.append(f"{query.rate_processed:,.0f} rows/s")
    if query.watermark is not None:
        lag = "" if query.lag_seconds is None else f" (lag {duration(query.lag_seconds)})"
        parts.append(f"watermark {query.watermark:%Y-%m-%d %H:%M:%S}{lag}")
    for operator in query.operators:
        late = f", {operator.late_rows:,} late" if operator.late_rows else ""
        if operator.state_rows is not None:
            parts.append(f"{operator.id}: {operator.state_rows:,} in state{late}")
    return f"{query.query}: {', '.join(parts)}"


def standing_line(standing: Standing, now: datetime) -> str:
    """`epoch 12; barrier 4: epoch 10, 35 s ago, took 0.2 s; next in 25 s`."""
    parts = [f"epoch {standing.epoch}"]
    last = standing.barrier
    if last is not None:
        ago = duration(max((now - last.completed_at).total_seconds(), 0))
        took = f"took {last.duration_ms / 1000:.1f} s"
        parts.append(f"barrier {last.barrier}: epoch {last.epoch}, {ago} ago, {took}")
    else:
        parts.append("no barrier yet")
    if standing.phase == RUNNING:
        due = standing.due_seconds
        parts.append(f"next in {duration(due)}" if due >= 1 else "next is due")
    else:
        parts.append(standing.phase)
    return "; ".join(parts)


def duration(seconds: float) -> str:
    """`35 s`, `4 min 10 s`, `6 h 5 min`, `3 d 2 h`: the two largest units."""
    whole = int(seconds)
    units = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
    parts: list[str] = []
    for unit, size in units:
        number, whole = divmod(whole, size)
        if number or (unit == "s" and not parts):
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2])
