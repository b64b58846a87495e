"""A pipeline that is fed step by step, each step one micro-batch of every query.

Sources and sinks are replaced and everything between them is the pipeline's own: a source reads
the rows that a step gives it, as text that is parsed as its own files would be, and a sink keeps
what it gets. Watermarks can be moved without rows. State and rows lie in a folder of the run's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import Arguments
from .batches import BatchWriter
from .errors import MISSING_VARIABLE, QUERY_FAILED, RuntimeFault
from .failures import explain_failure, spark_errors, spark_refuses
from .job import Job
from .kernel.build import kernel_jar
from .kernel.load import load_kernel
from .layout import checked_frame
from .options import quoted
from .plan import Checkpoint, Plan, Query, load_plan, plan_path
from .queries import Prepared, start_query
from .reading import FAIL
from .run import Build, load_build
from .session import run_session
from .settings import AS_FAST_AS_POSSIBLE, RunSettings, resolve_settings
from .storage import Storage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

END_OF_TIME = 253_370_764_800_000_000
"""The year 9999 in microseconds: no row is later, and no arithmetic on it overflows."""

READ_AS_WRITTEN = ("json", "csv", "text")
"""Formats whose lines a step gives as they are; rows of all others are given as JSON."""

_ROWS = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


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
        self._prepared: tuple[Prepared, ...] = ()
        self._started: list[tuple[Prepared, StreamingQuery]] = []
        self._step = 0
        self._fills = 0

    def fill(self, tables: Mapping[str, str]) -> None:
        """Makes these lines the content of tables.

        A table that is read once sees it if no batch has run since the start, one with a refresh
        in the next batch.
        """
        self._fills += 1
        for table, lines in tables.items():
            folder = self._root / "tables" / table
            for old in folder.iterdir():
                old.unlink()
            (folder / str(self._fills)).write_text(lines, encoding="utf-8")

    def feed(self, rows: Mapping[str, str]) -> None:
        """Gives each named source these lines, the others none: one micro-batch of every query.

        Returns when every query has finished it, and what its watermark then closes. Raises
        RuntimeFault when a query fails.
        """
        self._next(rows, {})

    def advance(self, instants: Mapping[str, int]) -> None:
        """Moves the watermarks of these sources to an instant, in microseconds since 1970."""
        self._next({}, instants)

    def drain(self) -> None:
        """Moves all watermarks behind every row, so that everything comes out."""
        self._next({}, dict.fromkeys(self._plan.sources, END_OF_TIME))

    def restart(self) -> None:
        """Stops all queries; the next batch starts them again from their checkpoints."""
        self.stop()

    def take(self, sink: str) -> list[dict[str, Any]]:
        """The rows that a sink has got since it was last asked, in the order in which they came.

        Values are as Spark writes them in JSON: instants in UTC to the microsecond, numbers with a
        point as `Decimal`.
        """
        return self._sinks[sink].take()

    def _run(self) -> None:
        """Starts all queries unless they run. As late as this, since it is when tables are read."""
        if self._started:
            return
        if self._plan.tables or not self._prepared:
            job = self._make_job()
            self._prepared = tuple(self._prepare(query, job) for query in self._plan.queries)
        for prepared in self._prepared:
            state = self._settings.state
            checkpoint = f"{state}/{prepared.plan.id}"
            query = start_query(prepared, checkpoint, state)
            self._started.append((prepared, query))

    def stop(self) -> None:
        for _, query in self._started:
            with suppress(*spark_errors()):
                query.stop()
        self._started.clear()

    def _next(self, rows: Mapping[str, str], ticks: Mapping[str, int]) -> None:
        self._run()
        self._step += 1
        for source in self._plan.sources:
            self._write("rows", source, rows.get(source, ""))
            tick = json.dumps({"micros": ticks[source]}) + "\n" if source in ticks else ""
            self._write("ticks", source, tick)
        self._kernel.Steps.release(str(self._root), self._step)
        for prepared, query in self._started:
            self._await(prepared, query)

    def _write(self, kind: str, source: str, text: str) -> None:
        path = self._root / kind / source / str(self._step)
        path.write_text(text, encoding="utf-8")

    def _prepare(self, query: Query, job: StepJob) -> Prepared:
        from pyspark.sql import DataFrame

        frame = checked_frame(self._kernel, job.frame_of(query), query)
        stepped = DataFrame(self._kernel.Steps.wrap(frame._jdf, str(self._root)), job.spark)
        writer = BatchWriter(query.id, [self._sinks[name] for name in query.sinks])
        return Prepared(query, stepped, writer)

    def _await(self, prepared: Prepared, query: StreamingQuery) -> None:
        from pyspark.errors import PySparkException

        try:
            query.processAllAvailable()
        except PySparkException:
            failure = explain_failure(query, prepared.writer)
            reason = self._places(failure.reason)
            raise RuntimeFault(QUERY_FAILED, f"query `{query.name}` failed: {reason}") from None

    def _places(self, reason: str) -> str:
        """Names the files of steps as those who wrote the steps know them."""
        folder = re.escape(f"{self._root}/rows")
        file = rf"(?:file )?(?:file:/{{0,2}})?{folder}/([^/\s]+)/(\d+)"
        reason = re.sub(rf"{file}:(\d+)", r"line \3 of batch \2 of `\1`", reason)
        return re.sub(file, r"batch \2 of `\1`", reason)


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

    State is kept in memory unless the spec asks for RocksDB by name, in two partitions, so that
    what depends on how rows are spread shows.
    """
    declared = dict(plan.settings.variables)
    if profile is not None and profile in plan.profiles:
        declared |= plan.profiles[profile].variables
    unset = {name: f"${{{name}}}" for name, value in declared.items() if value is None}
    asked = Arguments(variables={**unset, **variables}, profile=profile)
    given = resolve_settings(plan, asked, environment={})
    return RunSettings(
        state=str(root / "state"),
        trigger=given.trigger,
        state_backend="memory" if given.state_backend == "auto" else given.state_backend,
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


class StepJob(Job):
    """A job whose sources read the folder of a run, by the options that say how rows are parsed."""

    def __init__(
        self,
        plan: Plan,
        spark: SparkSession,
        storage: Storage,
        variables: Mapping[str, str],
        root: Path,
        folders: Sequence[str] = (),
    ) -> None:
        super().__init__(plan, spark, storage, variables, folders)
        self._root = root

    def read(
        self,
        name: str,
        *,
        connector: str,
        schema: Sequence[str],
        metadata: Mapping[str, str] | None = None,
        malformed_rows: str = FAIL,
        **options: Any,
    ) -> DataFrame:
        options = self._own_options(f"source `{name}`", connector, options, f"rows/{name}")
        return super().read(
            name,
            connector="files",
            schema=schema,
            metadata=metadata,
            malformed_rows=malformed_rows,
            **options,
        )

    def table(
        self,
        name: str,
        *,
        connector: str,
        schema: Sequence[str],
        refresh: str | None = None,
        **options: Any,
    ) -> DataFrame:
        options = self._own_options(f"table `{name}`", connector, options, f"tables/{name}")
        every = None if refresh is None else "0 seconds"
        return super().table(name, connector="files", schema=schema, refresh=every, **options)

    def frame_of(self, query: Query) -> DataFrame:
        """The frame that the sinks of a query share."""
        return self.calls_of(query)[0].frame

    def _own_options(
        self, owner: str, connector: str, options: Mapping[str, Any], folder: str
    ) -> dict[str, Any]:
        """The options for reading a folder of the run with the parsing of the pipeline."""
        parsed = connector == "files" and options.get("format") in READ_AS_WRITTEN
        own = dict(options) if parsed else {"format": "json"}
        own.pop("max_files_per_trigger", None)
        own["path"] = str(self._root / folder)
        # `check --spark` makes a job without a run.
        (self._root / folder).mkdir(parents=True, exist_ok=True)
        for option, value in own.items():
            self._refuse_unset(owner, option, str(value))
        return own

    def _refuse_unset(self, owner: str, option: str, value: str) -> None:
        for variable in self._variables:
            if f"${{{variable}}}" in value:
                raise RuntimeFault(
                    MISSING_VARIABLE,
                    f"`{option}` of {owner} needs the variable `{variable}`, which has no value",
                    f"give it one in the test: `variables: {{{variable}: …}}`",
                )


class CapturingSink:
    """Keeps the rows of every batch as JSON until they are taken."""

    reads_batch_once = True

    def __init__(self, name: str) -> None:
        self.name = name
        self._rows: list[str] = []

    def open(self) -> None:
        """Memory needs no preparation."""

    def acknowledged(self) -> Mapping[str, int]:
        return {}

    def write(self, batch: DataFrame, batch_id: int) -> int:
        from pyspark.sql import functions as F

        columns = [F.col(quoted(column)) for column in batch.columns]
        found = [row[0] for row in batch.select(F.to_json(F.struct(*columns), _ROWS)).collect()]
        self._rows.extend(found)
        return len(found)

    def take(self) -> list[dict[str, Any]]:
        from decimal import Decimal

        rows, self._rows = self._rows, []
        return [json.loads(row, parse_float=Decimal) for row in rows]
