"""A generation under construction: its folder, and batches of its queries without sinks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ....contracts.plan import Plan, Query
from ...barriers.gate import Gate
from ...barriers.moved_input import check_moved
from ...base.errors import QUERY_FAILED, RuntimeFault
from ...dataflow.job import Job
from ...kinds.layout import checked_frame
from ...plan.settings import RunSettings
from ...spark.failures import reason_of_query
from ...state.state import GenerationFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ...storage.file_system import Storage

_LOOK = 0.1


class Draft(GenerationFolder):
    """A generation that is being made, as what writes into one takes it."""

    def __init__(self, storage: Storage, folder: str, shown: str) -> None:
        self.storage = storage
        self.shown = shown
        self._folder = folder

    @property
    def generation_folder(self) -> str:
        return self._folder


@contextmanager
def gated(
    spark: SparkSession,
    kernel: Any,
    draft: Draft,
    plan: Plan,
    settings: RunSettings,
    job: Job,
    queries: Sequence[Query],
) -> Iterator[list[tuple[Query, DataFrame]]]:
    """Queries behind a gate that serves the draft's epochs, and opens none with input.

    `job` is built. Raises RuntimeFault when Spark would keep other state than planned.
    """
    job.tables.read(draft.shown)
    gate = Gate(kernel, spark, draft, plan, settings)
    frames = []
    for query in queries:
        frame = checked_frame(kernel, job.calls_of(query)[0].frame, plan, query)
        frames.append((query, gate.wrap(frame, query.id)))
    gate.open(None)
    try:
        check_moved(gate)
        gate.hold()
        yield frames
    finally:
        gate.close()


def run_to(
    draft: Draft,
    query: Query,
    frame: DataFrame,
    batch: int,
    take: Callable[[DataFrame, int], None],
) -> None:
    """Runs a query until a batch is committed; raises RuntimeFault when it ends before that."""
    checkpoint = draft.checkpoint(query.id)
    commit = f"{checkpoint}/commits/{batch}"
    run = (
        frame.writeStream.outputMode(query.output_mode)
        .option("checkpointLocation", checkpoint)
        .foreachBatch(take)
        .start()
    )
    try:
        while run.isActive and draft.storage.modified(commit) is None:
            time.sleep(_LOOK)
        reason = reason_of_query(run)
    finally:
        run.stop()
    if draft.storage.modified(commit) is None:
        raise RuntimeFault(
            QUERY_FAILED, f"query `{query.id}` did not come to its batch {batch}: {reason}"
        )
