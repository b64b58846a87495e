"""Barriers: which epoch is a checkpoint of the whole pipeline, and the manifest that says so.

Each micro-batch of Spark's is a durable snapshot of one query. The gate keeps the batches of all
queries in step; the coordinator periodically requests a barrier from it, and when all queries have
committed the epoch, writes its manifest. Nothing waits for that: the files that a barrier needs are
kept until enough newer ones are complete.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from ...contracts.notes.barrier import Manifest, OperatorState, QueryCut, SinkCut, SourceCut
from ...contracts.notes.ledger import Entry
from ...contracts.plan import Plan
from ..accounting.batch_ledgers import forget
from ..accounting.ledger import rows_read
from ..base.delays import pause
from ..base.errors import BARRIERS_FAIL, RuntimeFault, reason
from ..plan.settings import seconds
from ..spark.failures import spark_errors
from ..spark.reports import Reports
from ..state.integrity import Cut, Inventory
from ..state.manifests import barrier_of, manifest_name, manifest_text
from ..state.rollback import retire
from ..state.state import State, disk_of
from .gate import Gate, GateStatus

if TYPE_CHECKING:
    from ..connectors.batches import BatchWriter

_LOOK = 0.1
_REPORTS = 1.0
_RETRY = 5.0
"""Seconds after which a failed last barrier is retried."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A running query as the coordinator sees it."""

    id: str
    reports: Reports
    writer: BatchWriter


class BarrierView(Protocol):
    """Shows the outcome of barriers; called from the coordinator's thread."""

    def barrier(self, manifest: Manifest) -> None:
        """A barrier is complete."""

    def barrier_failed(self, reason: str) -> None:
        """A requested barrier failed, or was too late."""

    def note(self, text: str) -> None:
        """Shows a line about the run itself."""


class Coordinator:
    """Takes the barriers of one run, in a thread of its own between `start` and `stop`.

    `fault` is set when more consecutive barriers have failed than the pipeline tolerates, `error`
    when a bug of ours has ended the thread.
    """

    def __init__(
        self, plan: Plan, state: State, inventory: Inventory, gate: Gate, view: BarrierView
    ) -> None:
        self.fault: RuntimeFault | None = None
        self.error: Exception | None = None
        self._plan = plan
        self._state = state
        self._inventory = inventory
        self._gate = gate
        self._view = view
        self._policy = plan.checkpoint
        self._kept = list(inventory.kept)
        self._number = last_number(state)
        self._queries: Sequence[Watched] = ()
        self._awaited: tuple[float, datetime] | None = None
        self._due = 0.0
        self._looked = 0.0
        self._unreleased = ""
        self._busy = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="streamc-barriers", daemon=True)

    @property
    def newest(self) -> Manifest | None:
        """The last complete barrier, of this run or an earlier one."""
        return self._kept[-1] if self._kept else None

    @property
    def due_in(self) -> float:
        """The seconds until the next barrier is requested."""
        return max(self._due - time.monotonic(), 0.0)

    def start(self, queries: Sequence[Watched]) -> None:
        """Starts taking barriers; the first is due after the interval of the policy."""
        self._queries = queries
        self._due = time.monotonic() + seconds(self._policy.every)
        self._thread.start()

    def finish(self, stopping: Callable[[], bool]) -> None:
        """Takes a barrier at the current epoch, unless there is one; waits until it is complete.

        Gives up after the policy's timeout, when `stopping` says so or when barriers fail.
        """
        until = time.monotonic() + seconds(self._policy.timeout)
        self._due = 0.0
        while time.monotonic() < until and not stopping() and self.fault is None:
            self._step()
            self._due = min(self._due, time.monotonic() + _RETRY)
            if self._gate.status().over:
                return
            time.sleep(_LOOK)

    def stop(self) -> None:
        """Ends the thread, after finishing a manifest that is being written."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopped.wait(_LOOK) and self.fault is None:
                self._step()
        except Exception as error:
            # A thread that ends silently would leave a job without barriers.
            self.error = error

    def _step(self) -> None:
        """Looks at the gate's status, and acts on it."""
        with self._busy:
            try:
                self._advance()
            except _not_done() as error:
                # The thread outlives a Spark that has been stopped or lost, which others report.
                if not self._stopped.is_set():
                    self._failed(reason(error))

    def _advance(self) -> None:
        self._look()
        due = time.monotonic() >= self._due
        act = self._gate.coordinate(due=due, late=self._is_late())
        if act.isdigit():
            self._record(int(act))
        elif act == "failed":
            self._awaited = None
            self._failed(f"not all queries have reached it after {self._policy.timeout}")

    def _is_late(self) -> bool:
        """Whether the requested barrier has been waited for too long."""
        if not self._gate.status().awaited:
            return False
        if self._awaited is None:
            self._awaited = (time.monotonic(), datetime.now(UTC))
        return time.monotonic() - self._awaited[0] > seconds(self._policy.timeout)

    def _look(self) -> None:
        """Reads Spark's reports from time to time: it keeps those of a hundred batches."""
        if time.monotonic() - self._looked < _REPORTS:
            return
        self._looked = time.monotonic()
        for query in self._queries:
            query.reports.look()

    def _record(self, epoch: int) -> None:
        """Makes an epoch that all queries have committed a barrier, or reports why it can't."""
        asked = self._awaited[1] if self._awaited is not None else datetime.now(UTC)
        self._awaited = None
        self._due = time.monotonic() + seconds(self._policy.every)
        try:
            pause("coordinator.record")
            manifest = self._written(epoch, asked)
            pause("coordinator.recorded")
        except BaseException as error:
            self._gate.taken(epoch, recorded=False)
            if not isinstance(error, _not_done()):
                raise
            self._failed(reason(error))
            return
        self._gate.taken(epoch, recorded=True)
        self._kept.append(manifest)
        self._view.barrier(manifest)
        try:
            self._forget(manifest)
            self._retain()
        except _not_done() as error:
            # The barrier is on record nevertheless, and the next one removes more.
            self._not_released(reason(error))

    def _written(self, epoch: int, asked: datetime) -> Manifest:
        """The manifest of a barrier, once it is on the disk."""
        manifest = self._manifest(epoch, self._gate.status(), asked)
        self._state.lease.check()
        folder = f"{self._state.generation_folder}/barriers"
        # A number is never reused: a failed attempt may be on the disk all the same.
        self._number = manifest.barrier
        path = f"{folder}/{manifest_name(manifest.barrier)}"
        try:
            self._state.storage.replace(path, manifest_text(manifest))
        except BaseException:
            with suppress(*_not_done()):
                self._state.storage.delete([path])
            raise
        return manifest

    def _forget(self, manifest: Manifest) -> None:
        """Drops reports and ledgers of the batches up to a barrier."""
        for query in self._queries:
            batch = manifest.queries[query.id].batch
            query.reports.forget(batch)
            query.writer.forget(batch)
            if query.writer.books is not None:
                query.writer.books.forget(batch)

    def _not_released(self, why: str) -> None:
        if why != self._unreleased:
            self._view.note(f"files of barriers that are no longer kept are still there: {why}")
        self._unreleased = why

    def _manifest(self, epoch: int, status: GateStatus, asked: datetime) -> Manifest:
        queries: dict[str, QueryCut] = {}
        sinks: dict[str, SinkCut] = {}
        ledgers = self._ledgers({id: turn.batch(epoch) for id, turn in status.queries.items()})
        for query in self._queries:
            turn = status.queries[query.id]
            waited = round((turn.done_at - asked.timestamp()) * 1000)
            read = rows_read(ledgers.get(query.id, {}))
            queries[query.id] = _query_cut(query, turn.batch(epoch), max(waited, 0), read)
            sinks.update(_sink_cuts(query.writer, turn.batch(epoch), self._plan))
        batches = {id: query.batch for id, query in queries.items()}
        positions = self._gate.positions(epoch)
        completed = datetime.now(UTC)
        return Manifest(
            barrier=self._number + 1,
            epoch=epoch,
            generation=self._state.generation,
            pipeline=self._plan.pipeline,
            version=self._plan.version,
            requested_at=asked,
            completed_at=completed,
            duration_ms=round((completed - asked).total_seconds() * 1000),
            queries=queries,
            sources={name: SourceCut(at) for name, at in positions.items()},
            sinks=sinks,
            ledger=ledgers,
            files=self._inventory.take(Cut(batches, epoch, positions)),
        )

    def _ledgers(self, batches: Mapping[str, int]) -> Mapping[str, Mapping[str, Entry]]:
        """The ledgers since the previous barrier, query by query, up to these batches."""
        newest = self.newest.queries if self.newest is not None else {}
        after = {id: cut.batch for id, cut in newest.items()}
        return {
            query.id: query.writer.books.collect(after.get(query.id, -1), batches[query.id])
            for query in self._queries
            if query.writer.books is not None
        }

    def _retain(self) -> None:
        """Removes barriers beyond the number to keep, and what only they needed."""
        folder = f"{self._state.generation_folder}/barriers"
        while len(self._kept) > self._policy.retain:
            self._state.storage.delete([f"{folder}/{manifest_name(self._kept[0].barrier)}"])
            del self._kept[0]
        unreleased = self._gate.release(self._kept[0].epoch)
        if unreleased is not None:
            self._not_released(unreleased)
        for id, cut in self._kept[0].queries.items():
            forget(self._state, id, cut.batch)
        retire(*disk_of(self._state), self._state.generation)

    def _failed(self, why: str) -> None:
        self._view.barrier_failed(why)
        status = self._gate.status()
        if status.broken:
            self.fault = RuntimeFault(
                BARRIERS_FAIL,
                f"{status.failures} barriers in a row have failed; the last: {why}",
                "see what slows the queries down or fills the disk; TIMEOUT and TOLERATE of the "
                "CHECKPOINT statement say how long a barrier may take and how many may fail",
            )


def _not_done() -> tuple[type[BaseException], ...]:
    """Errors of reading or writing, which are not bugs of ours."""
    return (RuntimeFault, *spark_errors())


def last_number(state: State) -> int:
    """The greatest number of a barrier in any generation of a state, 0 before the first."""
    folder = f"{state.folder}/generations"
    numbers = [
        number
        for generation in state.storage.list(folder)
        for name in state.storage.list(f"{folder}/{generation}/barriers")
        if (number := barrier_of(name)) is not None
    ]
    return max(numbers, default=0)


def _query_cut(query: Watched, batch: int, waited: int, read: int | None) -> QueryCut:
    """The position of a query; Spark says how many rows it has read when the ledger does not."""
    report = query.reports.of(batch)
    return QueryCut(
        batch=batch,
        watermark=query.reports.watermark(batch),
        acknowledged_ms=waited,
        operators=tuple(_operators(query.reports, report)),
        rows_in=query.reports.rows_in(batch) if read is None else read,
        rows_out=query.writer.rows_until(batch),
    )


def _operators(reports: Reports, report: Mapping[str, Any]) -> Sequence[OperatorState]:
    reported = report.get("stateOperators", ())
    return [
        OperatorState(
            id=use.operator.id,
            number=number,
            kind=use.operator.KIND,
            rows=int(found["numRowsTotal"]),
            bytes=_bytes(found),
            partitions=int(found.get("numShufflePartitions", 0)),
        )
        for number, (use, found) in enumerate(zip(reports.uses, reported, strict=False))
    ]


def _bytes(reported: Mapping[str, Any]) -> int:
    """The size of a state: of RocksDB's files, or in memory when that is more."""
    files = reported.get("customMetrics", {}).get("rocksdbSstFileSize", 0)
    return max(int(reported["memoryUsedBytes"]), int(files))


def _sink_cuts(writer: BatchWriter, batch: int, plan: Plan) -> Mapping[str, SinkCut]:
    found = {}
    for sink in writer.sinks:
        taken = writer.taken_until(sink.name, batch)
        files = [one["files"] for one in taken if "files" in one]
        sizes = [one["bytes"] for one in taken if "bytes" in one]
        found[sink.name] = SinkCut(
            batch=batch,
            rows=sum(one["rows"] for one in taken),
            files=sum(files) if files else None,
            bytes=sum(sizes) if sizes else None,
            connector=plan.sinks[sink.name].connector,
            upserts=plan.sinks[sink.name].upserts,
        )
    return found
