"""A pipeline fed step by step, each step one micro-batch of every query.

Sources and sinks are replaced and everything between them is the pipeline's own: a source reads the
rows of a step, as text that is parsed like its own files, and a sink keeps what it gets. Watermarks
can be advanced without rows, batches can be killed and undone. State and rows are in a folder of
the run's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...contracts.migration import Migration
from ...contracts.plan import Plan, Program, Query
from ..accounting.batch_ledgers import Books, MemoryShelf
from ..accounting.remarks import Remarks
from ..base.errors import NOT_REPEATABLE, QUERY_FAILED, ROWS_LOST, RuntimeFault
from ..connectors.batch_failures import explain_failure
from ..connectors.batches import BatchWriter
from ..connectors.captures import CapturingSink, Contradiction, json_rows, parsed
from ..execution.queries import Prepared, start_query
from ..kinds.layout import checked_frame
from ..plan.plan import uses_of
from ..plan.settings import RunSettings
from ..savepoints.migrate.failing import check_conversions
from ..savepoints.migrate.state_mapping import fitted
from ..savepoints.restore.state_bootstrap import begin_query, initial_state
from ..spark.failures import spark_errors
from ..state_tables.program_cells import read_cells
from ..storage.disk import LocalDisk
from .job import StepJob
from .savepoints import EPOCH, HandedOn, saved
from .state import await_tasks, checkpoint_of, committed, undo_batches

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from ..dataflow.job import InitialState
    from ..storage.file_system import Storage

END_OF_TIME = 2**63 - 1
"""The last instant of a TIMESTAMP, in microseconds: no row is later."""

_SHOWN = 5
"""How many rows of a difference are shown."""


class Killed(Exception):
    """Kills a query whose sinks have the batch, before it is committed."""


class SteppedWriter(BatchWriter):
    """Passes on batches, and kills the query after the next one if requested."""

    kills = False
    killed = False

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        super().__call__(batch, batch_id)
        if self.kills:
            self.kills, self.killed = False, True
            raise Killed


@dataclass(frozen=True, slots=True)
class _Step:
    """The situation when a step began: the content of tables, the next batch of each query."""

    tables: Mapping[str, str]
    batches: Mapping[str, int]


class StepRun:
    """A running pipeline; see `step_runs`."""

    def __init__(
        self,
        plan: Plan,
        make_job: Callable[[InitialState | None], StepJob],
        storage: Storage,
        kernel: Any,
        settings: RunSettings,
        root: Path,
        remarks: Remarks,
    ) -> None:
        self._plan = plan
        self._make_job = make_job
        self._storage = storage
        self._kernel = kernel
        self._settings = settings
        self._root = root
        self._remarks = remarks
        self._sinks = {name: CapturingSink(name) for name in plan.sinks}
        self._shelves = {query: MemoryShelf() for query in plan.queries}
        self._writers: dict[str, SteppedWriter] = {}
        self._prepared: tuple[Prepared, ...] = ()
        self._started: list[tuple[Prepared, StreamingQuery]] = []
        self._steps: list[_Step] = []
        self._tables = dict.fromkeys(plan.tables, "")
        self._fills = 0
        self.tell: Callable[[str], None] = lambda line: None

    def fill(self, tables: Mapping[str, str]) -> None:
        """Makes these lines the content of tables.

        A table that is read once sees them if no batch has run since the start, one with a refresh
        sees them in the next batch.
        """
        self._fills += 1
        self._tables |= tables
        for table, lines in tables.items():
            folder = self._root / "tables" / table
            for old in folder.iterdir():
                old.unlink()
            (folder / str(self._fills)).write_text(lines, encoding="utf-8")

    def feed(self, rows: Mapping[str, str], *, crash: bool = False) -> None:
        """Feeds these lines to the named sources, none to others: one micro-batch of every query.

        Returns when every query has finished it, and emitted what its watermark then closes. With
        `crash` each query is killed when its sinks have the batch, and then restarted. Raises
        RuntimeFault when a query fails, or a batch gives other rows than the first time.
        """
        self._next(rows, {}, crash)

    def advance(self, instants: Mapping[str, int], *, crash: bool = False) -> None:
        """Advances the watermarks of these sources to an instant, in microseconds since 1970."""
        self._next({}, instants, crash)

    def drain(self, *, crash: bool = False) -> None:
        """Advances all watermarks past every row, so that everything is emitted."""
        self._next({}, dict.fromkeys(self._plan.sources, END_OF_TIME), crash)
        self._redone(complete=True)

    def rollback(self, steps: int) -> None:
        """Undoes the last steps in state and sinks, and reruns them with the same rows.

        Raises RuntimeFault when the sinks then get other rows. A query of several sources waits
        until each of them has advanced: rows it then holds back may be emitted later.
        """
        self.stop()
        again = self._steps[-steps:]
        for prepared in self._prepared:
            for sink in prepared.plan.sinks:
                self._sinks[sink].undo(again[0].batches[prepared.plan.id])
        undo_batches(self._settings.state, again[0].batches)
        tables = dict(self._tables)
        first = len(self._steps) - steps + 1
        for number, step in enumerate(again, first):
            if step.tables != self._tables:
                self.stop()
                self.fill(step.tables)
            self._release(number)
        if tables != self._tables:
            self.fill(tables)
        self._redone(complete=False)

    def restart(self) -> None:
        """Stops all queries; the next batch restarts them from their checkpoints."""
        self.stop()

    def hand_on(self, folder: Path) -> HandedOn:
        """Stops, and writes the state of all queries below a folder.

        Every query must have had a step. Raises RuntimeFault when a stored state cannot be read.
        """
        self.stop()
        savepoint = saved(self._plan, self._storage, self._settings.state, folder)
        rows = {name: sink.hand_on() for name, sink in self._sinks.items()}
        return HandedOn(savepoint, str(folder), rows, self._tables)

    def begin(self, handed_on: HandedOn, migration: Migration | None) -> None:
        """Starts from the state handed over by a run of another version, before any other step.

        Raises RuntimeFault when that does not fit.
        """
        fit = fitted(handed_on.savepoint, handed_on.folder, self._plan, migration)
        spark, disk = self._storage.session, LocalDisk()
        check_conversions(self._kernel, spark, fit)
        self.fill({name: text for name, text in handed_on.tables.items() if name in self._tables})
        self._write_step({}, {})
        job = self._make_job(partial(initial_state, spark, fit))
        self._prepared = tuple(self._prepare(query, job) for query in self._plan.queries.values())
        self._kernel.Steps.release(str(self._root), len(self._steps))
        self._run()
        for prepared, query in self._started:
            self._await(prepared, query)
        self.stop()
        for one in self._plan.queries.values():
            checkpoint = checkpoint_of(self._settings.state, one.id)
            told: list[str] = []
            begin_query(spark, self._kernel, disk, checkpoint, one, job, fit, EPOCH, told.append)
        # From here on its programs have their state.
        self._prepared = ()
        self._shelves = {query: MemoryShelf() for query in self._plan.queries}
        for name, sink in self._sinks.items():
            old = name if migration is None else migration.sinks[name].old
            sink.begin(() if old is None else handed_on.rows.get(old, ()))

    def take(self, sink: str) -> list[dict[str, Any]]:
        """The rows that a sink has got since the last call, in order of arrival.

        Values are in Spark's JSON: instants in UTC to the microsecond, numbers with a point as
        `Decimal`.
        """
        return self._sinks[sink].take()

    def state(self, operator: str) -> list[dict[str, Any]]:
        """What a keyed program keeps for each key: see `program_cells`; values as in `take`.

        Raises RuntimeFault when a stored state cannot be read.
        """
        program = self._plan.operators.get(operator)
        if not isinstance(program, Program):
            return []
        for query in self._plan.queries.values():
            ids = [use.id for use in query.operators]
            if operator in ids and committed(self._settings.state, query.id) >= 0:
                found = read_cells(
                    self._storage.session,
                    checkpoint_of(self._settings.state, query.id),
                    ids.index(operator),
                    program,
                )
                return [parsed(row) for row in json_rows(found)]
        return []

    def _run(self) -> None:
        """Starts all queries unless they are running."""
        if self._started:
            return
        for prepared in self._prepared:
            state = self._settings.state
            query = start_query(prepared, checkpoint_of(state, prepared.plan.id), state)
            self._started.append((prepared, query))

    def stop(self) -> None:
        for _, query in self._started:
            with suppress(*spark_errors()):
                query.stop()
        if self._started:
            await_tasks(self._storage.session)
        self._started.clear()

    def _next(self, rows: Mapping[str, str], ticks: Mapping[str, int], crash: bool) -> None:
        self._write_step(rows, ticks)
        self._release(len(self._steps), crash=crash)
        if crash:
            self.stop()
            self._release(len(self._steps))
        self._check()

    def _write_step(self, rows: Mapping[str, str], ticks: Mapping[str, int]) -> None:
        state = self._settings.state
        batches = {query: committed(state, query) + 1 for query in self._plan.queries}
        self._steps.append(_Step(dict(self._tables), batches))
        for source in self._plan.sources:
            self._write("rows", source, rows.get(source, ""))
            tick = json.dumps({"micros": ticks[source]}) + "\n" if source in ticks else ""
            self._write("ticks", source, tick)

    def _write(self, kind: str, source: str, text: str) -> None:
        path = self._root / kind / source / str(len(self._steps))
        path.write_text(text, encoding="utf-8")

    def _release(self, step: int, *, crash: bool = False) -> None:
        """Lets all queries run the steps up to this one, and waits for them.

        A starting query finds its first step: without one, it would begin with an empty batch.
        """
        if not self._started and (self._plan.tables or not self._prepared):
            # Not earlier, since this is when tables are read.
            job = self._make_job(None)
            queries = self._plan.queries.values()
            self._prepared = tuple(self._prepare(query, job) for query in queries)
        for writer in self._writers.values():
            writer.kills, writer.killed = crash, False
        self._kernel.Steps.release(str(self._root), step)
        self._run()
        for prepared, query in self._started:
            self._await(prepared, query)

    def _redone(self, *, complete: bool) -> None:
        for prepared in self._prepared:
            whole = complete or len(prepared.plan.sources) == 1
            for sink in prepared.plan.sinks:
                self._sinks[sink].redone(complete=whole)
        self._check()

    def _check(self) -> None:
        for sink in self._sinks.values():
            if sink.contradiction is not None:
                raise _not_repeatable(sink.contradiction)

    def _prepare(self, query: Query, job: StepJob) -> Prepared:
        from pyspark.sql import DataFrame

        frame = checked_frame(self._kernel, job.frame_of(query), self._plan, query)
        stepped = DataFrame(self._kernel.Steps.wrap(frame._jdf, str(self._root)), job.spark)
        shelf, uses = self._shelves[query.id], uses_of(self._plan, query)
        books = Books(
            query.id,
            uses,
            self._kernel,
            shelf,
            strict=True,
            tell=lambda line: self.tell(line),
            observe=self._remarks.take,
        )
        sinks = [self._sinks[name] for name in query.sinks]
        writer = SteppedWriter(query.id, sinks, self._kernel, books=books)
        self._writers[query.id] = writer
        return Prepared(query, uses, stepped, writer)

    def _await(self, prepared: Prepared, query: StreamingQuery) -> None:
        from pyspark.errors import PySparkException

        try:
            query.processAllAvailable()
        except PySparkException:
            if self._writers[prepared.plan.id].killed:
                return
            raised = prepared.writer.failure
            if isinstance(raised, RuntimeFault) and raised.code is ROWS_LOST:
                raise raised from None
            failure = explain_failure(query, prepared.writer, self._kernel)
            told = [
                failure.reason,
                *(failure.row.lines_of_step() if failure.row is not None else ()),
            ]
            message = f"query `{query.name}` failed: " + self._places("\n".join(told))
            raise RuntimeFault(QUERY_FAILED, message, failure.remedy) from None

    def _places(self, reason: str) -> str:
        """Names the files of steps in terms of the steps."""
        folder = re.escape(f"{self._root}/rows")
        file = rf"(?:file )?(?:file:/{{0,2}})?{folder}/([^/\s]+)/(\d+)"
        reason = re.sub(rf"{file}:(\d+)", r"line \3 of batch \2 of `\1`", reason)
        return re.sub(file, r"batch \2 of `\1`", reason)


def _not_repeatable(found: Contradiction) -> RuntimeFault:
    """The message about rows that differ, a line each, the first few of them."""
    which = f"batch {found.batch}" if found.batch is not None else "what was rolled back"
    lines = [f"sink `{found.sink}` got other rows when {which} ran again"]
    for word, rows in (("first", found.first), ("again", found.again)):
        lines += [f"     {word}: {row}" for row in rows[:_SHOWN]]
        if len(rows) > _SHOWN:
            lines.append(f"     {word}: {len(rows) - _SHOWN} more")
    return RuntimeFault(
        NOT_REPEATABLE,
        "\n".join(lines),
        "no row may depend on chance, on the clock, or on what a function remembers",
    )
