"""One run of a pipeline: from a plan and a script's `build` to stopped queries and a result."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ...contracts.notes.run_plan import RunPlan
from ...contracts.notes.status import QueryProgress
from ...contracts.plan import Plan
from ..base.errors import STATE_OF_OTHER_PLAN, RuntimeFault, reason
from ..base.secrets import refuse_keys
from ..base.signals import Stop, listening
from ..connectors.registry import packages_of
from ..dataflow.job import Job
from ..dataflow.script import Build, load_build
from ..plan.arguments import Arguments
from ..plan.plan import load_plan, load_spec, plan_path
from ..plan.settings import RunSettings, resolve_settings
from ..spark.failures import spark_errors, spark_refuses
from ..spark.session import spark_of
from ..state.recovery import recover
from ..state.state import State
from ..storage.file_system import Storage
from ..storage.notes import write_note
from .changed_spec import Compare, carried_over, check_changes
from .metrics.export import offered
from .partitions import settle_partitions
from .queries import Queries
from .views import SilentView, View

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended: its exit code, the rows of memory sinks, and why queries failed."""

    exit_code: int
    rows: Mapping[str, tuple[Row, ...]]
    progress: tuple[QueryProgress, ...]
    failures: tuple[RuntimeFault, ...]


def run_script(
    script: Path,
    arguments: Arguments | None = None,
    *,
    view: View | None = None,
    spark: SparkSession | None = None,
    stop: Stop | None = None,
    folders: Sequence[str] = (),
    signals: bool = False,
    strict_ledger: bool = False,
    compare: Compare | None = None,
) -> Result:
    """Runs an emitted script in this process and returns when its queries have ended.

    Any number of runs may follow one another in a process: each has a session of its own, on
    `spark` if that is given. `stop` ends a run from another thread, `signals` lets Ctrl-C and
    SIGTERM do so. `folders` are searched for the modules of Python functions before the script's
    own. With `strict_ledger`, which tests use, unaccounted rows end their query; else they cause a
    warning. `compare` says what differs between the plan that began the state and this one. Raises
    RuntimeFault when the run is not possible as requested; a failed query is in the result.
    """
    plan = load_plan(plan_path(script))
    return run_pipeline(
        plan,
        load_build(script),
        arguments or Arguments(),
        spec=load_spec(script),
        view=view or SilentView(),
        spark=spark,
        stop=stop,
        folders=(*folders, str(script.resolve().parent), os.getcwd()),
        signals=signals,
        strict_ledger=strict_ledger,
        compare=compare,
    )


def run_pipeline(
    plan: Plan,
    build: Build,
    arguments: Arguments,
    *,
    spec: str | None = None,
    view: View,
    spark: SparkSession | None = None,
    stop: Stop | None = None,
    folders: Sequence[str] = (),
    signals: bool = False,
    strict_ledger: bool = False,
    compare: Compare | None = None,
) -> Result:
    """Runs a plan with its `build`; see `run_script`.

    `spec` is the text that the plan was compiled from.
    """
    stop = stop or Stop()
    settings = resolve_settings(plan, arguments, os.environ)
    refuse_keys("the state", settings.state)
    try:
        with ExitStack() as stack:
            view, meter = stack.enter_context(offered(arguments, plan, view))
            packages = packages_of(plan)
            opened = spark_of(plan, packages, settings, view.note, spark)
            session, kernel = stack.enter_context(opened)
            stack.enter_context(listening(stop) if signals else nullcontext())
            storage = Storage(kernel, session)
            state = State(
                *(storage, settings.state, plan.pipeline),
                decision=arguments.copied,
                tell=view.note,
            )
            stack.push(partial(_ended, state))
            if meter is not None:
                meter.lease_age = lambda: state.lease.age
            settle_partitions(session, state, plan, settings, view.note)
            _begin(session, kernel, state, plan, build, settings, folders, view)
            inventory = recover(state, view.note)
            job = Job(plan, session, storage, settings.variables, folders)
            build(job)
            job.tables.read(state.shown)
            queries = Queries(
                *(plan, job, state, inventory, kernel, settings, folders, view),
                strict_ledger=strict_ledger,
            )
            check_changes(state, plan, compare, view.note)
            write_note(state.storage, state.plan_file, RunPlan(plan, spec).to_json())
            result = _run(plan, queries, view, stop)
            if meter is not None:
                meter.ended(len(result.failures))
            return result
    except RuntimeFault as fault:
        if fault.code is STATE_OF_OTHER_PLAN:
            raise carried_over(fault, plan, settings, arguments) from None
        raise
    except spark_errors() as error:
        # A signal to the whole process group may end Spark while its run is still being prepared.
        if not stop.requested:
            raise spark_refuses("the pipeline", error, settings.state) from None
        view.note(_outcome(plan, True, ()))
        return Result(stop.exit_code, {}, (), ())


def _begin(
    session: SparkSession,
    kernel: Any,
    state: State,
    plan: Plan,
    build: Build,
    settings: RunSettings,
    folders: Sequence[str],
    view: View,
) -> None:
    """Starts the state from a savepoint, if the settings name one."""
    if settings.savepoint is None:
        return
    from ..savepoints.restore.begin import begin_with_savepoint

    named = settings.savepoint
    begin_with_savepoint(named, session, kernel, state, plan, build, settings, folders, view.note)


def _run(plan: Plan, queries: Queries, view: View, stop: Stop) -> Result:
    view.start(plan)
    progress = queries.run(stop)
    failures = queries.failures(stop)
    queries.ended(failures, progress)
    view.finish(progress, _outcome(plan, stop.requested or queries.asked_to_stop, failures))
    code = max((failure.exit_code for failure in failures), default=stop.exit_code)
    return Result(code, queries.memory(), progress, failures)


def _outcome(plan: Plan, stopped: bool, failures: Sequence[RuntimeFault]) -> str:
    if failures:
        return f"{plan.pipeline}: failed"
    return f"{plan.pipeline}: {'stopped' if stopped else 'caught up'}"


def _ended(
    state: State, kind: object, error: BaseException | None, trace: TracebackType | None
) -> None:
    """Releases the state; pending requests are answered with how the run ended."""
    cause = error or state.lease.lost
    how = "by itself, before it could do so" if cause is None else f"with: {reason(cause)}"
    with suppress(RuntimeFault, *spark_errors()):
        state.mailbox.refuse(how)
    state.close()
