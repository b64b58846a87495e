"""Runs by steps, from an emitted script, on a Spark shared by any number of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...contracts.plan import Plan
from ...contracts.reserved import SHUFFLE_PARTITIONS
from ..accounting.remarks import Remarks
from ..dataflow.script import Build, load_build
from ..kernel.build import kernel_jar
from ..kernel.load import load_kernel
from ..plan.arguments import Arguments
from ..plan.plan import has_programs, load_plan, plan_path
from ..plan.retention import NO_BARRIERS
from ..plan.settings import AS_FAST_AS_POSSIBLE, RunSettings, resolve_settings
from ..spark.failures import spark_errors, spark_refuses
from ..spark.session import run_session
from ..storage.file_system import Storage
from .job import StepJob
from .steps import StepRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ..dataflow.job import InitialState

PARTITIONS = 2


@contextmanager
def step_spark(folder: Path, given: SparkSession | None = None) -> Iterator[SparkSession]:
    """A Spark for any number of runs: the given one, or a local one that is stopped at the end.

    Its log goes to `folder`. Raises RuntimeFault when Java or Spark are missing.
    """
    if given is not None:
        yield given
        return
    settings = RunSettings(str(folder), AS_FAST_AS_POSSIBLE, "memory", {}, {})
    session, started, _ = run_session(settings, NO_BARRIERS, "streamc", None)
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
    partitions: int = PARTITIONS,
    tell: Callable[[str], None] = lambda line: None,
    remarks: Remarks | None = None,
) -> Iterator[StepRun]:
    """Runs the pipeline of an emitted script in an empty folder of its own; stops it at the end.

    Variables of the pipeline without a value keep their names: most are in paths that are not used
    here. `folders` are searched for the modules of Python functions. Raises RuntimeFault when the
    run is not possible, or a variable without a value is needed after all. `tell` gets a line when
    the kernel has to be built first, `remarks` the warnings about the input.
    """
    plan, build = load_plan(plan_path(script)), load_build(script)
    settings = step_settings(plan, root, variables or {}, profile, partitions)
    try:
        session, _, _ = run_session(settings, plan.checkpoint, plan.pipeline, spark)
        kernel = load_kernel(session, kernel_jar(tell))
        run = _prepared(plan, build, session, kernel, settings, root, folders, remarks)
        try:
            yield run
        finally:
            run.stop()
            kernel.Steps.forget(str(root))
    except spark_errors() as error:
        raise spark_refuses("the pipeline", error, settings.state) from None


def step_settings(
    plan: Plan,
    root: Path,
    variables: Mapping[str, str],
    profile: str | None,
    partitions: int = PARTITIONS,
) -> RunSettings:
    """The settings of a run by steps: fast for two cores and little data.

    State is kept in memory unless the spec asks for RocksDB by name or has a program, in several
    partitions, so that any dependence on the distribution of rows shows.
    """
    declared = dict(plan.settings.variables)
    if profile is not None and profile in plan.settings.profiles:
        declared |= plan.settings.profiles[profile].variables
    unset = {name: f"${{{name}}}" for name, value in declared.items() if value is None}
    asked = Arguments(variables={**unset, **variables}, profile=profile)
    given = resolve_settings(plan, asked, environment={}, secrets=False)
    fastest = "rocksdb" if has_programs(plan) else "memory"
    return RunSettings(
        state=str(root / "state"),
        trigger=given.trigger,
        state_backend=fastest if given.state_backend == "auto" else given.state_backend,
        variables=given.variables,
        spark={**given.spark, SHUFFLE_PARTITIONS: str(partitions)},
    )


def _prepared(
    plan: Plan,
    build: Build,
    session: SparkSession,
    kernel: Any,
    settings: RunSettings,
    root: Path,
    folders: Sequence[str],
    remarks: Remarks | None,
) -> StepRun:
    for kind, names in (("rows", plan.sources), ("ticks", plan.sources), ("tables", plan.tables)):
        for name in names:
            (root / kind / name).mkdir(parents=True)

    storage = Storage(kernel, session)

    def make_job(initial: InitialState | None) -> StepJob:
        job = StepJob(plan, session, storage, settings.variables, root, folders, initial)
        build(job)
        return job

    heard = remarks or Remarks(lambda line: None)
    return StepRun(plan, make_job, storage, kernel, settings, root, heard)
