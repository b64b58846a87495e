"""The reason of a failed query, in a few lines, and its full text for the log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ..base.errors import (
    FILE_FAILS,
    SPARK_LOST,
    SPARK_REFUSES,
    STATE_DAMAGED,
    RuntimeFault,
    first_line,
)
from .advice import without_advice
from .failed_rows import FailedRow

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_WRAPPERS = ("FOREACH_BATCH_USER_FUNCTION_ERROR", "STREAM_FAILED", "FAILED_READ_FILE")
_GENERIC = (
    "MalformedRow",
    "SparkException",
    "SparkIllegalArgumentException",
    "StreamingQueryException",
    "ExecutionException",
    "Py4JException",
    "ProgramMistake",
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a query ended: a short reason for the terminal, the full text for the log.

    `remedy` is what can be done about it in the spec, None if unknown; `row` is what is known about
    the expression and the row that failed, which is shown below the reason.
    """

    query: str
    reason: str
    details: str
    remedy: str | None = None
    row: FailedRow | None = None

    def told(self) -> str:
        """The reason, and below it what is known about the row."""
        return "\n".join([self.reason, *(self.row.lines() if self.row is not None else ())])

    def told_of_step(self) -> str:
        """The same for a batch that was a step."""
        return "\n".join([self.reason, *(self.row.lines_of_step() if self.row is not None else ())])


def spark_errors() -> tuple[type[Exception], ...]:
    """What a call of Spark raises when it fails, or when its process has ended."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return (Py4JError, PySparkException, OSError)


def java_exception(error: BaseException) -> Any:
    """What Spark's own process threw, None when the error is from this side or Spark has ended."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def spark_refuses(what: str, error: Exception, state: str) -> RuntimeFault:
    """The fault for what Spark refuses; `error` is one of `spark_errors`."""
    java = java_exception(error)
    if isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError":
        return spark_lost(state, error)
    if isinstance(error, OSError):
        return RuntimeFault(
            FILE_FAILS,
            f"{what} cannot continue: {first_line(error)}",
            f"check that there is room in {state}, and that this user may write there",
        )
    reason = str(error).strip() or type(error).__name__
    told = reason_of(java) if java else reason.splitlines()[0]
    if told.endswith(_AGAIN):
        return RuntimeFault(STATE_DAMAGED, told.removesuffix(f"\n  {_AGAIN}"), _AGAIN)
    return RuntimeFault(
        SPARK_REFUSES,
        f"Spark refuses {what}: {told}",
        "if the script is unchanged since it was compiled, this is a bug of the compiler: "
        "please report it",
    )


def spark_lost(state: str, error: Exception) -> RuntimeFault:
    """The fault for a Spark that has ended; `error` is what a call of it raised."""
    return RuntimeFault(
        SPARK_LOST,
        f"Spark has ended unexpectedly: {first_line(error)}",
        f"its log may say why: {state}/logs/spark.log",
    )


def reason_of_query(query: StreamingQuery) -> str:
    """Why a query has ended, in Spark's words."""
    return reason_of(exception_of(query))


def exception_of(query: StreamingQuery) -> Any:
    """The exception of a query, None if it has not failed."""
    found = query._jsq.exception()
    return found.get() if found.isDefined() else None


def stack_trace(thrown: Any) -> str:
    """All frames and causes, as Java prints them."""
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


def reason_of(thrown: Any) -> str:
    """The innermost message worded by Spark itself, its cause, and the file if one is named."""
    chain = []
    while thrown is not None:
        chain.append((str(thrown.getClass().getSimpleName()), str(thrown.getMessage() or "")))
        thrown = thrown.getCause()
    return java_reason(chain)


def java_reason(chain: Sequence[tuple[str, str]]) -> str:
    """The reason in a chain of exceptions, outermost first, each a class name and a message.

    >>> print(java_reason([
    ...     ("SparkException", "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file "
    ...                        "file:///in/2.json.  SQLSTATE: KD001"),
    ...     ("SparkException", "[MALFORMED_RECORD_IN_PARSING] Malformed records. SQLSTATE: 22023"),
    ...     ("NumberFormatException", "Character a is no digit"),
    ... ]))
    Malformed records.
      because NumberFormatException: Character a is no digit
      in file /in/2.json
    """
    python = next((text for _, text in reversed(chain) if _TRACEBACK in text), None)
    if python is not None:
        return _worker_reason(python)
    told = [(name, *_message(text)) for name, text in chain]
    worded = [n for n, (_, error_class, text) in enumerate(told) if error_class and text]
    named = [n for n, (name, _, text) in enumerate(told) if text and name != _PROGRAM]
    if not named:
        return chain[-1][0] if chain else "Spark reports no exception"
    chosen = worded[-1] if worded else named[-1]
    name, error_class, text = told[chosen]
    lines = [text if error_class or name in _GENERIC else f"{name}: {text}"]
    if named[-1] > chosen:
        name, _, text = told[named[-1]]
        lines.append(f"  because {text if name in _GENERIC else f'{name}: {text}'}")
    lines += [f"  in {text}" for name, text in chain if name == _PROGRAM][:1]
    place = next((m.group(1) for _, text in chain if (m := _FILE.search(text))), None)
    if place is not None:
        lines.append(f"  in file {place}")
    if any(_is_damage(name, text) for name, text in chain):
        lines.append(f"  {_AGAIN}")
    return "\n".join(lines)


_PROGRAM = "ProgramFailure"
_AGAIN = "start the job again: it checks the files of its state, and falls back to a barrier"
_STATE_FILE = re.compile(r"/generations/\d{4,}/(?:epochs|queries|sources)/")


def _is_damage(name: str, text: str) -> bool:
    """Whether an exception is about a file of the state that was damaged while the job ran."""
    if _STATE_FILE.search(text) is None:
        return False
    return name in ("ChecksumException", "FileNotFoundException") or text.endswith("is damaged")


_TRACEBACK = "Traceback (most recent call last):\n"
_BEHIND = ("\t", " SQLSTATE:")


def _worker_reason(text: str) -> str:
    """The error at the end of a Python worker's traceback; all of it for a pipeline's function."""
    lines = text.rpartition(_TRACEBACK)[2].splitlines()
    first = next((n for n, line in enumerate(lines) if not line.startswith(" ")), 0)
    told = takewhile(lambda line: line and not line.startswith(_BEHIND), lines[first:])
    return "\n".join(told).removeprefix(f"RuntimeError: {FAILED} ")


_FILE = re.compile(r"reading file (?:file:/*(?=/))?(\S+?)[.,]?(?:\s|$)")


def _message(text: str) -> tuple[str | None, str]:
    """Spark's error class and the first informative line, without bookkeeping.

    The line is empty for a message that only wraps another.
    """
    for line in map(str.strip, text.splitlines()):
        found = re.match(r"\[([A-Z0-9_.]+)\]\s*(.*)", line)
        error_class, told = found.groups() if found else (None, line)
        if error_class and error_class.split(".")[0] in _WRAPPERS:
            return None, ""
        told = re.sub(r"\s*SQLSTATE: \w+(; line \d+ pos \d+;?)?$", "", told)
        if told.startswith("Job aborted"):
            return None, ""
        if told:
            return error_class, without_advice(told)
    return None, ""


FAILED = "[streamc]"
"""The prefix of an error's message in such a function, found within all of Spark's wrapping."""
