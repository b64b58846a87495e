"""The reason of a failed query, in a few lines, and its full text for the log."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .batches import BatchWriter
from .sinks import PythonSink

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_WRAPPERS = ("FOREACH_BATCH_USER_FUNCTION_ERROR", "STREAM_FAILED", "FAILED_READ_FILE")
_GENERIC = (
    "SparkException",
    "StreamingQueryException",
    "ExecutionException",
    "Py4JException",
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a query ended: a short reason for the terminal, all there is for the log."""

    query: str
    reason: str
    details: str


def explain_failure(query: StreamingQuery, writer: BatchWriter) -> Failure:
    """Takes the cause out of what Spark reports of a failed query.

    An error of a python sink's own code is shown as its Python traceback.
    """
    thrown = _java_exception(query)
    details = _stack_trace(thrown)
    if writer.failure is not None:
        sink, error = writer.failure
        shown = "".join(traceback.format_exception(error))
        details = f"in sink {sink.name}:\n{shown}\n{details}"
        java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
        if java is None:
            return Failure(writer.query, _python_reason(sink, error), details)
        thrown = java
    return Failure(writer.query, _java_reason(thrown), details)


def _python_reason(sink: object, error: BaseException) -> str:
    name = getattr(sink, "name", "?")
    if not isinstance(sink, PythonSink):
        return f"sink `{name}`: {type(error).__name__}: {error}"
    # The first frame is the runtime's call of the user's function.
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/streamc/runtime/" not in f.filename]
    kept = own or frames
    text = "".join(traceback.format_list(kept)) + f"{type(error).__name__}: {error}"
    return f"sink `{name}`: its function raised\n{text}"


def _java_exception(query: StreamingQuery) -> Any:
    found = query._jsq.exception()
    return found.get() if found.isDefined() else None


def _stack_trace(thrown: Any) -> str:
    if thrown is None:
        return "Spark reports no exception"
    frames: list[str] = []
    while thrown is not None:
        frames.append(str(thrown.toString()))
        frames.extend(f"    at {frame.toString()}" for frame in thrown.getStackTrace())
        thrown = thrown.getCause()
        if thrown is not None:
            frames.append("Caused by:")
    return "\n".join(frames)


def _java_reason(thrown: Any) -> str:
    """The innermost message that says something, and the file if any cause names one."""
    messages = []
    while thrown is not None:
        messages.append((str(thrown.getClass().getSimpleName()), str(thrown.getMessage() or "")))
        thrown = thrown.getCause()
    if not messages:
        return "Spark reports no exception"
    told = [(name, _clean(text)) for name, text in messages if _clean(text)]
    if not told:
        return messages[-1][0]
    name, text = told[-1]
    place = next((m.group(1) for _, t in messages if (m := _FILE.search(t))), None)
    reason = text if name in _GENERIC or text.startswith(_CLASS_MARK) else f"{name}: {text}"
    reason = reason.removeprefix(_CLASS_MARK)
    return f"{reason}\n  in file {place}" if place else reason


_FILE = re.compile(r"(?:reading file|file:?) (\S+?)[.,]?(?:\s|$)")
_CLASS_MARK = "\0"


def _clean(text: str) -> str:
    """The first line without Spark's bookkeeping; empty for a message that only wraps another."""
    for line in text.splitlines():
        line = line.strip()
        found = re.match(r"\[([A-Z0-9_.]+)\]\s*(.*)", line)
        if found:
            if found.group(1).split(".")[0] in _WRAPPERS:
                return ""
            line = _CLASS_MARK + found.group(2)
        line = re.sub(r"\s*SQLSTATE: \w+$", "", line)
        if line and not line.startswith(("Job aborted due to stage failure", "An error occurred")):
            return line
        if line.startswith("Job aborted"):
            return ""
    return ""
