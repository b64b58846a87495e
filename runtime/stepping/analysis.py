"""Spark's errors about a script before it runs: the dataflow is built but no query is started.

Sources are empty folders and sinks are left out, so that neither input nor state is touched.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...contracts.plan import Plan, Query
from ...contracts.readers import READERS
from ..base.errors import RuntimeFault
from ..dataflow.script import load_build
from ..kernel.build import kernel_jar
from ..kernel.load import java_class, load_kernel
from ..kinds.layout import checked_frame
from ..plan.plan import load_plan, plan_path
from ..spark.failures import java_exception, reason_of, spark_errors, spark_refuses
from ..spark.session import run_session
from ..storage.file_system import Storage
from .job import StepJob
from .runs import step_settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Refusal:
    """What Spark, or the runtime before it, refuses.

    `line` is the line of the script being run, counted from one, or None when a whole query is
    refused, which `query` then names. `error` is Spark's name for it, or the code of the fault that
    a run would end with. `fragment` is the SQL text that Spark points at.
    """

    reason: str
    error: str | None = None
    line: int | None = None
    query: str | None = None
    fragment: str | None = None
    help: str | None = None


def refusals(
    script: Path,
    root: Path,
    spark: SparkSession,
    *,
    variables: Mapping[str, str] | None = None,
    profile: str | None = None,
    folders: Sequence[str] = (),
    tell: Callable[[str], None] = lambda line: None,
) -> list[Refusal]:
    """Builds the dataflow of a script in an empty folder and lets Spark analyse and plan it.

    An error ends the build, so that there is at most one with a line; queries are checked one by
    one. `folders` are searched for the modules of Python functions. Raises RuntimeFault when Spark
    or the script can't be used at all.
    """
    plan, build = load_plan(plan_path(script)), load_build(script)
    settings = step_settings(plan, root, variables or {}, profile)
    session, _, _ = run_session(settings, plan.checkpoint, plan.pipeline, spark)
    kernel = load_kernel(session, kernel_jar(tell))
    storage = Storage(kernel, session)
    job = _EmptyJob(plan, session, storage, settings.variables, root, folders)
    try:
        build(job)
    except RuntimeFault as fault:
        return [_fault(fault, line=_line(fault, script))]
    except spark_errors() as error:
        return [_refusal(error, settings.state, line=_line(error, script))]
    return [
        found for query in plan.queries.values() for found in _of_query(plan, query, job, kernel)
    ]


class _EmptyJob(StepJob):
    """A job whose sources have their columns, and no rows."""

    def read(
        self,
        name: str,
        *,
        connector: str,
        schema: Sequence[str],
        metadata: Mapping[str, str] | None = None,
        **options: Any,
    ) -> DataFrame:
        from pyspark.sql import functions as F

        facts = READERS[connector]
        known = {} if facts.reads_files else metadata or {}
        own = metadata if facts.reads_files else None
        rows = super().read(name, connector=connector, schema=schema, metadata=own, **options)
        types = {column: facts.metadata[key] for column, key in known.items()}
        nothing = [F.lit(None).cast(type_).alias(column) for column, type_ in types.items()]
        return rows.select("*", *nothing)


def _of_query(plan: Plan, query: Query, job: StepJob, kernel: Any) -> Iterator[Refusal]:
    frame = job.frame_of(query)
    try:
        _check_operations(frame, query.output_mode)
        checked_frame(kernel, frame, plan, query)
    except RuntimeFault as fault:
        yield _fault(fault, query=query.id)
    except spark_errors() as error:
        yield _refusal(error, "", query=query.id)


def _fault(fault: RuntimeFault, *, line: int | None = None, query: str | None = None) -> Refusal:
    return Refusal(fault.message, fault.code.number, line, query, help=fault.help)


def _check_operations(frame: DataFrame, output_mode: str) -> None:
    """Spark's own check when a query starts: whether its operations can be combined."""
    jvm: Any = frame.sparkSession._jvm
    modes, checker = (
        java_class(jvm, f"org.apache.spark.sql.catalyst.{name}")
        for name in ("streaming.InternalOutputModes", "analysis.UnsupportedOperationChecker")
    )
    plan = frame._jdf.queryExecution().analyzed()
    checker.checkForStreaming(plan, modes.apply(output_mode))


def _refusal(
    error: Exception, state: str, *, line: int | None = None, query: str | None = None
) -> Refusal:
    java = java_exception(error)
    if java is None:
        # Spark has ended, or PySpark itself refuses a call: neither has a location in a spec.
        raise spark_refuses("the pipeline", error, state) from None
    fragment, name = _context(error)
    return Refusal(reason_of(java), name, line, query, fragment)


def _line(error: Exception, script: Path) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(script)]
    return lines[-1] if lines else None


def _context(error: Exception) -> tuple[str | None, str | None]:
    """The SQL text that Spark points at, if any, and the name of its error class."""
    from pyspark.errors import PySparkException

    if not isinstance(error, PySparkException):
        return None, None
    fragments = [context.fragment() for context in error.getQueryContext() or ()]
    return next((text for text in fragments if text), None), error.getCondition()
