"""The status of a run, in a file for other processes: `control/status.json`."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...contracts.notes.marks import Mark, open_marks
from ...contracts.notes.status import LastBarrier, QueryProgress, Stall, StatusNote
from ..state.lease import RUN, Holder, running
from ..state.partitions import recorded_partitions
from ..state.state import current_generation
from ..storage.notes import read_note, unreadable, write_note
from ..storage.state_store import opened_state

if TYPE_CHECKING:
    from ...contracts.plan import Plan
    from ..storage.file_system import Files

_EVERY = 2.0
_SILENCE = 30.0
"""Seconds after which a job that holds its state but writes no status counts as hanging."""
_HELP = "a running job rewrites it within seconds; without one, delete it"
STARTING = "starting"
RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Standing:
    """The status of a run as a whole: its epoch, its newest barrier, when the next is due.

    `stall` says why it is stalled, if it is.
    """

    phase: str
    epoch: int
    barrier: LastBarrier | None
    due_seconds: float
    stall: Stall | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a pipeline's state folder, from its files.

    `holder` is who runs on it, if anybody. The rest is from a run's own file, `age_seconds` old, or
    None without one; without a holder, or of another run, it was true at that run's end. `marks`
    are parts of the state that are still incomplete, `partitions` the number that it lies in, None
    before the first batch.
    """

    pipeline: str
    holder: Holder | None
    phase: str | None
    age_seconds: float | None
    version: int | None
    generation: str | None
    standing: Standing | None
    queries: tuple[QueryProgress, ...]
    marks: tuple[Mark, ...] = ()
    partitions: int | None = None

    @property
    def stalled(self) -> str | None:
        """Why the running job makes no progress, as far as it or its silence says."""
        if self.holder is None or self.standing is None or self.age_seconds is None:
            return None
        if self.age_seconds > _SILENCE:
            return f"it has not reported its status for {self.age_seconds:.0f} s"
        stall = self.standing.stall
        return None if stall is None else f"for {stall.seconds:.0f} s, {stall.reason}"


class StatusFile:
    """Writes the status of a run, at most every two seconds."""

    def __init__(self, files: Files, folder: str, holder: Holder) -> None:
        self._files = files
        self._path = _file(folder)
        self._holder = holder
        self._next = 0.0

    def write(
        self,
        plan: Plan,
        generation: str,
        standing: Standing,
        queries: Sequence[QueryProgress],
        *,
        now: bool = False,
    ) -> None:
        """Replaces the file, if it is due or forced."""
        if not now and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY
        stall = standing.stall
        note = StatusNote(
            self._holder.owner,
            datetime.now(UTC),
            plan.version,
            generation,
            standing.phase,
            standing.epoch,
            standing.barrier,
            round(standing.due_seconds, 1),
            tuple(queries),
            stalled=None if stall is None else replace(stall, seconds=round(stall.seconds, 1)),
        )
        write_note(self._files, self._path, note.to_json())


def read_status(state: str, conf: Sequence[str] = ()) -> Status:
    """The status of a state folder; raises RuntimeFault when it is not one.

    `conf` are settings of Spark for its store, `KEY=VALUE`. In a store the age of a lease is told
    by this machine's clock.
    """
    files, folder, identity = opened_state(state, conf)
    now = time.time()
    holder = running(files, folder, now)
    written = files.modified(_file(folder))
    found = read_note(files, _file(folder), _HELP)
    pipeline = identity.pipeline
    if found is None or written is None or (holder and found.get("owner") != holder.owner):
        phase = None
        if holder is not None:
            phase = STARTING if holder.work == RUN else holder.work
        marks = _marks(files, folder, ())
        return Status(
            pipeline, holder, phase, None, None, None, None, (), marks, _partitions(files, folder)
        )
    try:
        told = StatusNote.from_json(found)
    except ValueError as error:
        raise unreadable(_file(folder), f"it is not a status: {error}", _HELP) from None
    return Status(
        pipeline=pipeline,
        holder=holder,
        phase=told.phase,
        age_seconds=max(now - written, 0.0),
        version=told.version,
        generation=told.generation,
        standing=_standing_of(told),
        queries=told.queries,
        marks=_marks(files, folder, told.queries),
        partitions=_partitions(files, folder),
    )


def status_document(status: Status) -> dict[str, Any]:
    """The status as JSON, see `contracts.outputs`."""
    holder = status.holder
    standing = status.standing
    return {
        "format": 1,
        "kind": "status",
        "running": holder is not None,
        "pipeline": status.pipeline,
        "pid": None if holder is None else holder.pid,
        "host": None if holder is None else holder.host,
        "since": None if holder is None else holder.started_at,
        "age_seconds": None if status.age_seconds is None else round(status.age_seconds, 1),
        "version": status.version,
        "generation": status.generation,
        "partitions": status.partitions,
        **(_standing_document(standing) if standing else {"phase": status.phase}),
        "stalled": status.stalled,
        "queries": [_shown_query(query) for query in status.queries],
        "marks": [mark.to_json() for mark in status.marks],
    }


def _partitions(files: Files, folder: str) -> int | None:
    generation = current_generation(files, folder)
    if generation is None:
        return None
    return recorded_partitions(files, f"{folder}/generations/{generation.number}")


def _marks(files: Files, folder: str, queries: Sequence[QueryProgress]) -> tuple[Mark, ...]:
    """The current generation's marks that have not ended at the queries' watermarks."""
    generation = current_generation(files, folder)
    reached: dict[str, list[int]] = {}
    for query in queries:
        ms = 0 if query.watermark is None else round(query.watermark.timestamp() * 1000)
        for operator in query.operators:
            reached.setdefault(operator.id, []).append(ms)
    lowest = {id: min(found) for id, found in reached.items()}
    marks = () if generation is None else generation.marks
    return tuple(open_marks(marks, lowest))


def _file(folder: str) -> str:
    return f"{folder}/control/status.json"


def _standing_document(standing: Standing) -> dict[str, Any]:
    last = standing.barrier
    return {
        "phase": standing.phase,
        "epoch": standing.epoch,
        "barrier": None if last is None else last.to_json(),
        "next_barrier_in_seconds": round(standing.due_seconds, 1),
    }


def _standing_of(note: StatusNote) -> Standing:
    due = note.next_barrier_in_seconds
    return Standing(note.phase, note.epoch, note.barrier, due, note.stalled)


def _shown_query(query: QueryProgress) -> dict[str, Any]:
    """A query without the rates of a batch of zero duration, which JSON can't represent."""
    rates = {name: getattr(query, name) for name in ("rate_in", "rate_processed")}
    finite = {name: rate if math.isfinite(rate) else None for name, rate in rates.items()}
    return {**query.to_json(), **finite}
