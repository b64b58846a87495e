"""The runtime without its gate and its barriers: each query is Spark's own, at its own pace.

    python benchmarks/harness/plain.py SCRIPT [ARGUMENTS]

It starts the dataflow of an emitted script with Spark's own sources, and passes batches to the same
sinks. The cost of the gate and the barriers is measured against this.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from streamc.runtime import Stop
from streamc.runtime.execution import queries, run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_LOOK = 0.1


class NoGate:
    """Lets every query read for itself."""

    ending = False

    def __init__(self, *given: Any) -> None:
        NoGate.ending = False

    def wrap(self, frame: DataFrame, query: str) -> DataFrame:
        return frame

    def open(self, barrier: int | None) -> None:
        """Nothing to open."""

    def until_caught_up(self) -> None:
        NoGate.ending = True

    def close(self) -> None:
        """Nothing to close."""


class NoBarriers:
    """Takes no barriers."""

    newest = None
    fault = None

    def __init__(self, *given: Any) -> None:
        """Needs nothing."""

    def start(self, queries: Sequence[Any]) -> None:
        """Nothing to start."""

    def stop(self) -> None:
        """Nothing to stop."""


def start_query(prepared: queries.Prepared, checkpoint: str, shown: str) -> StreamingQuery:
    """Starts a query with a trigger of Spark's."""
    writer = (
        prepared.frame.writeStream.queryName(prepared.plan.id)
        .outputMode(prepared.plan.output_mode)
        .option("checkpointLocation", checkpoint)
        .foreachBatch(prepared.writer)
    )
    return (writer.trigger(availableNow=True) if NoGate.ending else writer).start()


class NoWatch:
    """Waits until all queries have ended, or one has failed."""

    asked = False
    fault = None

    def __init__(self, *given: Any) -> None:
        """There are no requests."""

    def begin(self) -> None:
        """There is no drain to finish."""

    def run(self, stop: Stop, started: Sequence[StreamingQuery], monitors: Sequence[Any]) -> None:
        while not stop.wait(_LOOK):
            active = [query.isActive for query in started]
            failed = any(query.exception() is not None for query in started if not query.isActive)
            if not any(active) or failed:
                return

    def ended(self, *given: Any) -> None:
        """There is nobody to report to."""


@contextmanager
def without_gate() -> Iterator[None]:
    """Replaces gate and barriers of the runtime for a while."""
    own: dict[str, Any] = {
        "Gate": NoGate,
        "Coordinator": NoBarriers,
        "Watch": NoWatch,
        "start_query": start_query,
    }
    with (
        patch.multiple(queries, **own),
        # # Spark's own logs have no epochs: there is nothing to examine.
        patch.object(run, "recover", lambda state, tell: None),
    ):
        yield


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    with without_gate():
        runpy.run_path(sys.argv[0], run_name="__main__")
