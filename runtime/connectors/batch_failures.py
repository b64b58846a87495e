"""Why a query ended: from Spark's report and the exception of a sink."""

from __future__ import annotations

import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..spark.advice import remedy
from ..spark.failed_rows import FailedRow, find_failed_row
from ..spark.failures import (
    Failure,
    exception_of,
    java_exception,
    reason_of,
    spark_errors,
    stack_trace,
)
from .batches import BatchWriter
from .interface import Sink

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_RUNTIME = str(Path(__file__).parent.parent)


def explain_failure(query: StreamingQuery, writer: BatchWriter, kernel: Any) -> Failure:
    """Extracts the cause from Spark's report of a failed query.

    An error of the user's code in a sink is shown as its Python traceback.
    """
    thrown = exception_of(query)
    details = stack_trace(thrown)
    if writer.failure is not None:
        error = writer.failure
        details = "".join(traceback.format_exception(error)) + "\n" + details
        java = java_exception(error)
        sink = writer.failed_sink
        if java is None or (sink is not None and sink.runs_users_code):
            row = _row_of(query, java, kernel)
            reason = _python_reason(sink, error)
            return Failure(writer.query, reason, details, row=row)
        thrown = java
    row = _row_of(query, thrown, kernel)
    return Failure(writer.query, reason_of(thrown), details, remedy(details), row)


def _row_of(query: StreamingQuery, thrown: Any, kernel: Any) -> FailedRow | None:
    with suppress(*spark_errors()):
        return None if thrown is None else find_failed_row(query, thrown, kernel)
    return None


def _python_reason(sink: Sink | None, error: BaseException) -> str:
    if sink is None:
        return f"{type(error).__name__}: {error}"
    if not sink.runs_users_code:
        return f"sink `{sink.name}`: {type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    # The user's code is below the runtime's call of it.
    calls = [n for n, frame in enumerate(frames) if frame.filename.startswith(_RUNTIME)]
    own = frames[max(calls, default=-1) + 1 :]
    last = traceback.format_exception_only(error)
    return f"the function of sink `{sink.name}` raised\n" + "".join(
        [*traceback.format_list(own), *last]
    ).rstrip("\n")
