"""One run of a pipeline: from a plan and a script's `build` to stopped queries and a result."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .arguments import Arguments
from .changed_spec import Compare, carried_over, check_changes
from .errors import SCRIPT_UNUSABLE, STATE_OF_OTHER_PLAN, RuntimeFault, reason
from .failures import spark_errors, spark_refuses
from .job import Job
from .kernel.build import kernel_jar
from .kernel.load import load_kernel
from .notes import write_note
from .packages import check_packages, packages_of
from .plan import Plan, load_plan, plan_path
from .progress import QueryProgress
from .queries import Queries
from .recovery import recover
from .secrets import refuse_keys
from .session import run_session
from .settings import RunSettings, resolve_settings
from .signals import Stop, listening
from .state import SPEC_TEXT, State
from .storage import Storage
from .views import SilentView, View

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

Build = Callable[[Job], None]


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
    own. With `strict_ledger`, as tests want it, rows that are not accounted for end their query;
    else they are warned of. `compare` says what differs between the plan that began the state and
    this one. Raises RuntimeFault when the run is not possible as asked; a failed
    query is in the result.
    """
    plan = load_plan(plan_path(script))
    return run_pipeline(
        plan,
        load_build(script),
        arguments or Arguments(),
        view=view or SilentView(),
        spark=spark,
        stop=stop,
        folders=(*folders, str(script.resolve().parent), os.getcwd()),
        signals=signals,
        strict_ledger=strict_ledger,
        compare=compare,
    )


def load_build(script: Path) -> Build:
    """The `build` of a script, loaded as a module that no other shares."""
    name = f"streamc_script_{script.stem}"
    spec = importlib.util.spec_from_file_location(name, script)
    if spec is None or spec.loader is None or not script.is_file():
        raise RuntimeFault(
            SCRIPT_UNUSABLE, f"{script} is no script", "pass a .py that was compiled"
        )
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (SyntaxError, ImportError) as error:
        raise RuntimeFault(
            SCRIPT_UNUSABLE,
            f"{script} cannot be loaded: {error}",
            "compile the spec again",
        ) from None
    build = getattr(module, "build", None)
    if not callable(build):
        raise RuntimeFault(
            SCRIPT_UNUSABLE,
            f"{script} has no function `build`",
            "compile the spec again",
        )
    return build  # type: ignore[no-any-return]


def run_pipeline(
    plan: Plan,
    build: Build,
    arguments: Arguments,
    *,
    view: View,
    spark: SparkSession | None = None,
    stop: Stop | None = None,
    folders: Sequence[str] = (),
    signals: bool = False,
    strict_ledger: bool = False,
    compare: Compare | None = None,
) -> Result:
    """Runs a plan with the `build` that belongs to it; see `run_script`."""
    stop = stop or Stop()
    settings = resolve_settings(plan, arguments, os.environ)
    refuse_keys("the state", settings.state)
    try:
        with ExitStack() as stack:
            session, kernel = stack.enter_context(spark_of(plan, settings, view.note, spark))
            stack.enter_context(listening(stop) if signals else nullcontext())
            storage = Storage(kernel, session)
            state = State(
                *(storage, settings.state, plan.pipeline),
                decision=arguments.copied,
                tell=view.note,
            )
            stack.push(partial(_ended, state))
            if settings.savepoint is not None:
                from .savepoints.begin import begin_with_savepoint

                named, tell = settings.savepoint, view.note
                begin_with_savepoint(
                    named, session, kernel, state, plan, build, settings, folders, tell
                )
            inventory = recover(state, view.note)
            job = Job(plan, session, storage, settings.variables, folders)
            build(job)
            job.tables.read(state.shown)
            queries = Queries(
                plan,
                job,
                state,
                inventory,
                kernel,
                settings,
                folders,
                view,
                strict_ledger=strict_ledger,
            )
            check_changes(state, plan, compare, view.note)
            write_note(state.storage, state.plan_file, {**plan.document, SPEC_TEXT: plan.spec_text})
            return _run(plan, queries, view, stop)
    except RuntimeFault as fault:
        if fault.code is STATE_OF_OTHER_PLAN:
            raise carried_over(fault, plan, settings, arguments) from None
        raise
    except spark_errors() as error:
        # A signal to the whole process group ends Spark while its run is still being prepared.
        if not stop.requested:
            raise spark_refuses("the pipeline", error, settings.state) from None
        view.note(_outcome(plan, True, ()))
        return Result(stop.exit_code, {}, (), ())


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
    """Gives the state free; whoever has asked something of the run gets to know how it ended."""
    cause = error or state.lease.lost
    how = "by itself, before it could do so" if cause is None else f"with: {reason(cause)}"
    with suppress(RuntimeFault, *spark_errors()):
        state.mailbox.refuse(how)
    state.close()


@contextmanager
def spark_of(
    plan: Plan, settings: RunSettings, tell: Callable[[str], None], given: SparkSession | None
) -> Iterator[tuple[SparkSession, Any]]:
    """The session of a run, and the kernel in it; a Spark that is started for it ends with it."""
    jar = kernel_jar(tell)
    packages = packages_of(plan.parts)
    session, started, notes = run_session(settings, plan.checkpoint, plan.pipeline, given, packages)
    try:
        check_packages(session, packages)
        for note in notes:
            tell(note)
        yield session, load_kernel(session, jar)
    finally:
        if started:
            with suppress(*spark_errors()):
                session.stop()
