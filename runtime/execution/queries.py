"""The Spark queries of one run: checked, started together, watched, stopped together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...contracts.notes.meaning import meaning_of
from ...contracts.notes.status import QueryProgress
from ...contracts.plan import Plan, Query
from ..accounting.batch_ledgers import Books, StateShelf
from ..accounting.remarks import Remarks
from ..barriers.coordinator import Coordinator, Watched
from ..barriers.gate import Gate
from ..barriers.moved_input import check_moved
from ..base.errors import QUERY_FAILED, ROWS_LOST, RuntimeFault
from ..base.signals import Stop
from ..connectors.batch_failures import explain_failure
from ..connectors.batches import BatchWriter
from ..connectors.interface import Sink
from ..connectors.sinks import make_sink, open_sinks
from ..connectors.spool import Spool, is_repeatable
from ..connectors.upserts import with_places
from ..dataflow.job import Job
from ..kinds.layout import checked_frame
from ..plan.plan import OperatorUse, uses_of
from ..plan.retention import batches_to_retain
from ..plan.settings import AVAILABLE_NOW, RunSettings
from ..spark.failures import spark_errors, spark_lost, spark_refuses
from ..spark.reports import Reports
from ..state.integrity import Inventory
from ..state.state import State
from ..state_tables.meaning import check_meaning
from .progress import QueryMonitor
from .views import View
from .watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming.query import StreamingQuery

_RETAIN = "spark.sql.streaming.minBatchesToRetain"


_ON = "then start the job again, which continues with this batch"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query ready to start: its operators, its frame, and the writer of its batches."""

    plan: Query
    uses: tuple[OperatorUse, ...]
    frame: DataFrame
    writer: BatchWriter


def start_query(prepared: Prepared, checkpoint: str, shown: str) -> StreamingQuery:
    """Starts a query; raises RuntimeFault, which names `shown`, when Spark refuses it."""
    from pyspark.errors import PySparkException

    query = prepared.plan
    writer = (
        prepared.frame.writeStream.queryName(query.id)
        .outputMode(query.output_mode)
        .option("checkpointLocation", checkpoint)
        .foreachBatch(prepared.writer)
    )
    try:
        return writer.start()
    except PySparkException as error:
        raise spark_refuses(f"query `{query.id}`", error, shown) from None


class Queries:
    """All queries of a pipeline. They are prepared on construction, and started by `run`."""

    def __init__(
        self,
        plan: Plan,
        job: Job,
        state: State,
        inventory: Inventory,
        kernel: Any,
        settings: RunSettings,
        folders: Sequence[str],
        view: View,
        *,
        strict_ledger: bool = False,
    ) -> None:
        """Raises RuntimeFault when a query would not match the plan.

        With `strict_ledger`, unaccounted rows end their query.
        """
        self._plan = plan
        self._job = job
        self._state = state
        self._kernel = kernel
        self._settings = settings
        self._folders = folders
        self._view = view
        self._strict_ledger = strict_ledger
        kept = [manifest.epoch for manifest in inventory.kept]
        self._retain = batches_to_retain(settings, plan.checkpoint, inventory.last, kept)
        job.spark.conf.set(_RETAIN, str(self._retain))
        self._remarks = Remarks(view.note)
        self._gate = Gate(kernel, job.spark, state, plan, settings)
        self._coordinator = Coordinator(plan, state, inventory, self._gate, view)
        self._watch = Watch(plan, state, self._gate, self._coordinator, view, settings.cadence)
        self._prepared = tuple(self._prepare(query) for query in plan.queries.values())
        self._started: list[tuple[Prepared, StreamingQuery]] = []
        self._ended: set[str] = set()
        self._lost: RuntimeFault | None = None
        for prepared in self._prepared:
            check_meaning(state, prepared.plan.id, meaning_of(plan, prepared.plan))
        for sink in self._sinks:
            sink.check()

    def run(self, stop: Stop) -> tuple[QueryProgress, ...]:
        """Starts all queries and returns when all have ended.

        They end, with a last barrier, when they have caught up, on request or on a signal; or as
        soon as one of them has failed.
        """
        monitors: list[QueryMonitor] = []
        try:
            self._open_gate()
            open_sinks(self._sinks, self._state)
            for prepared in self._prepared:
                query = start_query(
                    prepared,
                    self._state.checkpoint(prepared.plan.id),
                    self._state.shown,
                )
                self._started.append((prepared, query))
                monitors.append(
                    QueryMonitor(
                        prepared.plan.id, prepared.uses, query, prepared.writer, self._kernel
                    )
                )
            self._coordinator.start([self._watched(*started) for started in self._started])
            self._watch.run(stop, [query for _, query in self._started], monitors)
        except spark_errors() as error:
            # A signal to the whole process group may end Spark while it is being stopped here.
            if not stop.requested:
                if self._alive():
                    raise
                self._lost = spark_lost(self._state.shown, error)
        finally:
            self._stop_all()
            self._coordinator.stop()
            with suppress(*spark_errors()):
                self._gate.close()
        return tuple(monitor.last_look() for monitor in monitors)

    def failures(self, stop: Stop) -> tuple[RuntimeFault, ...]:
        """Why queries have failed, one fault each; their full texts are written to the logs.

        Queries that are stopped on request may report their interruption, which is not a failure.
        """
        if stop.requested:
            return ()
        lost = self._state.lease.lost or self._lost
        if lost is not None:
            return (lost,)
        failed = [
            self._fault(prepared, query)
            for prepared, query in self._started
            if prepared.plan.id in self._ended or query._jsq.exception().isDefined()
        ]
        faults = (self._coordinator.fault, self._watch.fault)
        return (*failed, *(fault for fault in faults if fault is not None))

    @property
    def asked_to_stop(self) -> bool:
        """Whether another process has requested the end, see `mailbox`."""
        return self._watch.asked

    def ended(self, failures: Sequence[RuntimeFault], progress: Sequence[QueryProgress]) -> None:
        """Reports to other processes how the run has ended."""
        self._watch.ended(failures, progress)

    def memory(self) -> Mapping[str, tuple[Row, ...]]:
        """The rows that sinks keep which keep those of a run."""
        return {
            sink.name: tuple(rows) for sink in self._sinks if (rows := sink.kept_rows()) is not None
        }

    @property
    def _sinks(self) -> Sequence[Sink]:
        return [sink for prepared in self._prepared for sink in prepared.writer.sinks]

    def _prepare(self, query: Query) -> Prepared:
        calls = self._job.calls_of(query)
        frame = checked_frame(self._kernel, calls[0].frame, self._plan, query)
        sinks = [
            make_sink(
                call.name,
                call.connector,
                call.options,
                query=query.id,
                state=self._state,
                keep=self._retain,
                show=self._view.message,
                folders=self._folders,
            )
            for call in calls
        ]
        spool = (
            None
            if is_repeatable(self._kernel, frame)
            else Spool(self._state.storage, self._state.spool(query.id), self._retain)
        )
        uses = uses_of(self._plan, query)
        books, check = self._books(query.id, uses), self._state.lease.check
        writer = BatchWriter(query.id, sinks, self._kernel, spool, books, check)
        if any(sink.upsert is not None and sink.upsert.latest_by is not None for sink in sinks):
            frame = with_places(self._kernel, frame)
        return Prepared(query, uses, self._gate.wrap(frame, query.id), writer)

    def _books(self, query: str, uses: Sequence[OperatorUse]) -> Books:
        shelf = StateShelf(self._state, query)
        strict, tell = self._strict_ledger, self._view.note
        observe, recorded = self._remarks.take, self._view.ledger
        return Books(
            *(query, uses, self._kernel, shelf),
            strict=strict,
            tell=tell,
            observe=observe,
            recorded=recorded,
        )

    def _open_gate(self) -> None:
        newest = self._coordinator.newest
        self._gate.open(newest.epoch if newest is not None else None)
        check_moved(self._gate, self._view.note)
        self._watch.begin()
        if self._settings.trigger == AVAILABLE_NOW:
            self._gate.until_caught_up()

    def _watched(self, prepared: Prepared, query: StreamingQuery) -> Watched:
        reports = Reports(prepared.uses, query, self._kernel)
        return Watched(prepared.plan.id, reports, prepared.writer)

    def _stop_all(self) -> None:
        for prepared, query in self._started:
            with suppress(*spark_errors()):
                # No query should end before it is stopped, whatever Spark reports.
                if not query.isActive:
                    self._ended.add(prepared.plan.id)
                query.stop()

    def _alive(self) -> bool:
        try:
            return not self._job.spark.sparkContext._jsc.sc().isStopped()
        except spark_errors():
            return False

    def _fault(self, prepared: Prepared, query: StreamingQuery) -> RuntimeFault:
        raised = prepared.writer.failure
        if isinstance(raised, RuntimeFault) and raised.code is ROWS_LOST:
            return raised
        failure = explain_failure(query, prepared.writer, self._kernel)
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        try:
            path = self._state.log(f"{moment}-{failure.query}.txt", failure.details + "\n")
            help = f"the full text is in {path}"
        except spark_errors():
            # A full disk, which may be why the query failed, must not hide the failure.
            help = f"there was no room for the full text in {self._state.shown}/logs"
        if failure.remedy is not None:
            help = f"{failure.remedy}, or fix the row; {_ON}\n{help}"
        return RuntimeFault(QUERY_FAILED, f"query `{failure.query}` failed: {failure.told()}", help)
