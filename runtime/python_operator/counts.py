"""How many rows arrived and were handled, by query and micro-batch, for the ledger.

This part runs in Spark's workers; `accounting.python_counts` reads their sums on the driver.
"""

from __future__ import annotations

from typing import Any

from pyspark import TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam


class ByBatch(AccumulatorParam[Any]):
    """Counts by the names of batches."""

    def zero(self, value: Any) -> Any:
        return {}

    def addInPlace(self, value1: Any, value2: Any) -> Any:
        for batch, counts in value2.items():
            old = value1.get(batch, (0,) * len(counts))
            value1[batch] = tuple(a + b for a, b in zip(old, counts, strict=True))
        return value1


def count(counts: Accumulator[Any], arrived: int, handled: int) -> None:
    """Adds a task's rows of its batch."""
    task = TaskContext.get()
    if task is not None:
        query = task.getLocalProperty("sql.streaming.queryId")
        number = task.getLocalProperty("streaming.sql.batchId")
        counts.add({f"{query}/{number}": (arrived, handled)})
