"""A pipeline that is fed step by step, each step one micro-batch of every query.

Sources and sinks are replaced and everything between them is the pipeline's own: a source reads
the rows that a step gives it, as text that is parsed as its own files would be, and a sink keeps
what it gets. Watermarks can be moved without rows, batches be killed and undone. State and rows lie
in a folder of the run's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import Arguments
from .batches import BatchWriter
from .books import Books, MemoryShelf
from .captures import CapturingSink, Contradiction, json_rows, parsed
from .errors import NOT_REPEATABLE, QUERY_FAILED, ROWS_LOST, RuntimeFault
from .failures import explain_failure, spark_errors, spark_refuses
from .kernel.build import kernel_jar
from .kernel.load import load_kernel
from .layout import checked_frame
from .plan import Checkpoint, Plan, Query, load_plan, plan_path
from .program_cells import read_cells
from .queries import Prepared, start_query
from .run import Build, load_build
from .session import run_session
from .settings import AS_FAST_AS_POSSIBLE, RunSettings, resolve_settings
from .step_job import StepJob
from .step_state import checkpoint_of, committed, undo_batches
from .storage import Storage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

END_OF_TIME = 253_370_764_800_000_000
"""The year 9999 in microseconds: no row is later, and no arithmetic on it overflows."""

_SHOWN = 5
"""How many rows of a difference are told."""


class Killed(Exception):
    """A query is killed: its sinks have the batch, and it is not committed."""


class SteppedWriter(BatchWriter):
    """Hands on batches, and kills the query behind the next one when it is told to."""

    kills = False
    killed = False

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        super().__call__(batch, batch_id)
        if self.kills:
            self.kills, self.killed = False, True
            raise Killed


@dataclass(frozen=True, slots=True)
class _Step:
    """What there was when a step began: the content of tables, the next batch of each query."""

    tables: Mapping[str, str]
    batches: Mapping[str, int]


class StepRun:
    """A running pipeline; see `step_run`."""

    def __init__(
        self,
        plan: Plan,
        make_job: Callable[[], StepJob],
        kernel: Any,
        settings: RunSettings,
        root: Path,
    ) -> None:
        self._plan = plan
        self._make_job = make_job
        self._kernel = kernel
        self._settings = settings
        self._root = root
        self._sinks = {name: CapturingSink(name) for name in plan.sinks}
        self._shelves = {query.id: MemoryShelf() for query in plan.queries}
        self._writers: dict[str, SteppedWriter] = {}
        self._prepared: tuple[Prepared, ...] = ()
        self._started: list[tuple[Prepared, StreamingQuery]] = []
        self._steps: list[_Step] = []
        self._tables = dict.fromkeys(plan.tables, "")
        self._fills = 0

    def fill(self, tables: Mapping[str, str]) -> None:
        """Makes these lines the content of tables.

        A table that is read once sees it if no batch has run since the start, one with a refresh
        in the next batch.
        """
        self._fills += 1
        self._tables |= tables
        for table, lines in tables.items():
            folder = self._root / "tables" / table
            for old in folder.iterdir():
                old.unlink()
            (folder / str(self._fills)).write_text(lines, encoding="utf-8")

    def feed(self, rows: Mapping[str, str], *, crash: bool = False) -> None:
        """Gives each named source these lines, the others none: one micro-batch of every query.

        Returns when every query has finished it, and what its watermark then closes. With `crash`
        each query is killed when its sinks have the batch, and then started again. Raises
        RuntimeFault when a query fails, or a batch gives other rows than the first time.
        """
        self._next(rows, {}, crash)

    def advance(self, instants: Mapping[str, int], *, crash: bool = False) -> None:
        """Moves the watermarks of these sources to an instant, in microseconds since 1970."""
        self._next({}, instants, crash)

    def drain(self, *, crash: bool = False) -> None:
        """Moves all watermarks behind every row, so that everything comes out."""
        self._next({}, dict.fromkeys(self._plan.sources, END_OF_TIME), crash)
        self._redone(complete=True)

    def rollback(self, steps: int) -> None:
        """Undoes the last steps in state and sinks, and runs them again with the same rows.

        Raises RuntimeFault when the sinks then get other rows. A query of several sources stands
        still until each of them has moved: what it then holds back may come later.
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
        """Stops all queries; the next batch starts them again from their checkpoints."""
        self.stop()

    def take(self, sink: str) -> list[dict[str, Any]]:
        """The rows that a sink has got since it was last asked, in the order in which they came.

        Values are as Spark writes them in JSON: instants in UTC to the microsecond, numbers with a
        point as `Decimal`.
        """
        return self._sinks[sink].take()

    def state(self, operator: str) -> list[dict[str, Any]]:
        """What a keyed program keeps of each key: see `program_cells`; values as `take` gives them.

        Raises RuntimeFault when a stored state cannot be read.
        """
        for prepared in self._prepared:
            ids = [use.operator.id for use in prepared.plan.uses]
            query = prepared.plan.id
            if operator in ids and committed(self._settings.state, query) >= 0:
                found = read_cells(
                    prepared.frame.sparkSession,
                    checkpoint_of(self._settings.state, query),
                    ids.index(operator),
                    self._plan.operators[operator],
                )
                return [parsed(row) for row in json_rows(found)]
        return []

    def _run(self) -> None:
        """Starts all queries unless they run."""
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
        self._started.clear()

    def _next(self, rows: Mapping[str, str], ticks: Mapping[str, int], crash: bool) -> None:
        state, queries = self._settings.state, [query.id for query in self._plan.queries]
        batches = {id: committed(state, id) + 1 for id in queries}
        self._steps.append(_Step(dict(self._tables), batches))
        for source in self._plan.sources:
            self._write("rows", source, rows.get(source, ""))
            tick = json.dumps({"micros": ticks[source]}) + "\n" if source in ticks else ""
            self._write("ticks", source, tick)
        self._release(len(self._steps), crash=crash)
        if crash:
            self.stop()
            self._release(len(self._steps))
        self._check()

    def _write(self, kind: str, source: str, text: str) -> None:
        path = self._root / kind / source / str(len(self._steps))
        path.write_text(text, encoding="utf-8")

    def _release(self, step: int, *, crash: bool = False) -> None:
        """Lets all queries run the steps up to this one, and waits until they have.

        A query that starts finds its first step: without any, it would begin with an empty batch.
        """
        if not self._started and (self._plan.tables or not self._prepared):
            # As late as this, since it is when tables are read.
            job = self._make_job()
            self._prepared = tuple(self._prepare(query, job) for query in self._plan.queries)
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

        frame = checked_frame(self._kernel, job.frame_of(query), query)
        stepped = DataFrame(self._kernel.Steps.wrap(frame._jdf, str(self._root)), job.spark)
        shelf = self._shelves[query.id]
        books = Books(query, self._kernel, shelf, strict=True, tell=lambda line: None)
        sinks = [self._sinks[name] for name in query.sinks]
        writer = SteppedWriter(query.id, sinks, books=books)
        self._writers[query.id] = writer
        return Prepared(query, stepped, writer)

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
            failure = explain_failure(query, prepared.writer)
            reason = self._places(failure.reason)
            raise RuntimeFault(QUERY_FAILED, f"query `{query.name}` failed: {reason}") from None

    def _places(self, reason: str) -> str:
        """Names the files of steps as those who wrote the steps know them."""
        folder = re.escape(f"{self._root}/rows")
        file = rf"(?:file )?(?:file:/{{0,2}})?{folder}/([^/\s]+)/(\d+)"
        reason = re.sub(rf"{file}:(\d+)", r"line \3 of batch \2 of `\1`", reason)
        return re.sub(file, r"batch \2 of `\1`", reason)


def _not_repeatable(found: Contradiction) -> RuntimeFault:
    """What is told of rows that differ, each a line, the first few of them."""
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


@contextmanager
def step_spark(folder: Path, given: SparkSession | None = None) -> Iterator[SparkSession]:
    """A Spark for any number of runs: the given one, or a local one that is stopped at the end.

    Its log goes to `folder`. Raises RuntimeFault when Java or Spark are missing.
    """
    if given is not None:
        yield given
        return
    settings = RunSettings(str(folder), AS_FAST_AS_POSSIBLE, "memory", {}, {})
    session, started, _ = run_session(settings, Checkpoint("1 minute", 1), "streamc", None)
    try:
        yield session
    finally:
        if started:
            with suppress(*spark_errors()):
                session.stop()


@contextmanager
def step_run(
    script: Path,
    root: Path,
    spark: SparkSession,
    *,
    variables: Mapping[str, str] | None = None,
    profile: str | None = None,
    folders: Sequence[str] = (),
    tell: Callable[[str], None] = lambda line: None,
) -> Iterator[StepRun]:
    """Runs the pipeline of an emitted script in an empty folder of its own; stops it at the end.

    Variables of the pipeline that have no value keep their names: most stand in paths that are not
    used here. `folders` are searched for the modules of Python functions. Raises RuntimeFault when
    the run is not possible, or a variable without a value is needed after all. `tell` gets a line
    when the kernel has to be built first.
    """
    plan, build = load_plan(plan_path(script)), load_build(script)
    settings = step_settings(plan, root, variables or {}, profile)
    try:
        session, _, _ = run_session(settings, plan.checkpoint, plan.pipeline, spark)
        kernel = load_kernel(session, kernel_jar(tell))
        run = _prepared(plan, build, session, kernel, settings, root, folders)
        try:
            yield run
        finally:
            run.stop()
            kernel.Steps.forget(str(root))
    except spark_errors() as error:
        raise spark_refuses("the pipeline", error, settings.state) from None


def step_settings(
    plan: Plan, root: Path, variables: Mapping[str, str], profile: str | None
) -> RunSettings:
    """The settings of a run by steps: as fast as two cores and little data allow.

    State is kept in memory unless the spec asks for RocksDB by name or has a program, in two
    partitions, so that what depends on how rows are spread shows.
    """
    declared = dict(plan.settings.variables)
    if profile is not None and profile in plan.profiles:
        declared |= plan.profiles[profile].variables
    unset = {name: f"${{{name}}}" for name, value in declared.items() if value is None}
    asked = Arguments(variables={**unset, **variables}, profile=profile)
    given = resolve_settings(plan, asked, environment={})
    fastest = "rocksdb" if plan.has_programs else "memory"
    return RunSettings(
        state=str(root / "state"),
        trigger=given.trigger,
        state_backend=fastest if given.state_backend == "auto" else given.state_backend,
        variables=given.variables,
        spark={**given.spark, "spark.sql.shuffle.partitions": "2"},
    )


def _prepared(
    plan: Plan,
    build: Build,
    session: SparkSession,
    kernel: Any,
    settings: RunSettings,
    root: Path,
    folders: Sequence[str],
) -> StepRun:
    for kind, names in (("rows", plan.sources), ("ticks", plan.sources), ("tables", plan.tables)):
        for name in names:
            (root / kind / name).mkdir(parents=True)

    def make_job() -> StepJob:
        storage = Storage(kernel, session)
        job = StepJob(plan, session, storage, settings.variables, root, folders)
        build(job)
        return job

    return StepRun(plan, make_job, kernel, settings, root)
