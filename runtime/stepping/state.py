"""The state of a pipeline fed step by step: Spark's checkpoints, on this machine's disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic, sleep
from typing import TYPE_CHECKING

from ..state.checkpoints import Generation
from ..storage.disk import side_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASKS_END_WITHIN = 30
"""Seconds that tasks of stopped queries may take to notice it, from Spark's own code."""


def checkpoint_of(state: str, query: str) -> str:
    """The path of a query's checkpoint, below the folder of the state."""
    return f"{state}/queries/{query}"


def committed(state: str, query: str) -> int:
    """The last batch that a query has finished, -1 before the first."""
    commits = Path(checkpoint_of(state, query)) / "commits"
    numbers = [int(file.name) for file in commits.glob("*") if file.name.isdigit()]
    return max(numbers, default=-1)


def await_tasks(spark: SparkSession) -> None:
    """Waits until the tasks of stopped queries have ended.

    `stop` returns earlier: a batch that Spark began by itself still opens its stores, and recreates
    removed folders.
    """
    tracker = spark.sparkContext._jsc.sc().statusTracker()
    until = monotonic() + _TASKS_END_WITHIN
    while any(one.numRunningTasks() for one in tracker.getExecutorInfos()):
        if monotonic() > until:
            return
        sleep(0.01)


def undo_batches(state: str, first: Mapping[str, int]) -> None:
    """Restores each query to the time before a batch: its logs, and the versions of its stores.

    No query may be running. What Spark keeps in memory for a store belongs to a run of its query.
    """
    root = Path(state)
    paths = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    held = Generation.of(paths).queries
    for id, batch in first.items():
        if batch == 0:
            # Spark starts afresh only in an empty folder.
            Path(checkpoint_of(state, id)).rename(Path(mkdtemp(prefix="undone-", dir=state)) / id)
            continue
        query = held[id]
        gone = [path for number, path in query.offsets.items() if number >= batch]
        gone += [path for number, path in query.commits.items() if number >= batch]
        for chain in query.stores.values():
            for files in (chain.snapshots, chain.increments):
                # A batch reads the version with its own number, and writes the next.
                gone += [path for version, path in files.items() if version > batch]
        for path in gone:
            for name in (path, side_file(path)):
                (root / name).unlink(missing_ok=True)
