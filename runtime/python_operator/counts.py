"""How many rows have arrived and were handled, by query and micro-batch, for the ledger.

Spark adds what tasks have counted on the driver. What was read of a batch is forgotten.
"""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext, TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam

_made: dict[int, Accumulator[Any]] = {}


class _ByBatch(AccumulatorParam[Any]):
    """Counts by the names of batches."""

    def zero(self, value: Any) -> Any:
        return {}

    def addInPlace(self, value1: Any, value2: Any) -> Any:
        for batch, counts in value2.items():
            old = value1.get(batch, (0,) * len(counts))
            value1[batch] = tuple(a + b for a, b in zip(old, counts, strict=True))
        return value1


def new_counts(context: SparkContext) -> tuple[int, Accumulator[Any]]:
    """Counts for an operator, and the number by which they are found."""
    made: Accumulator[Any] = context.accumulator({}, _ByBatch())
    number = int(made.aid)
    _made[number] = made
    return number, made


def count(counts: Accumulator[Any], arrived: int, handled: int) -> None:
    """Adds what a task has had of its batch."""
    task = TaskContext.get()
    if task is not None:
        query = task.getLocalProperty("sql.streaming.queryId")
        number = task.getLocalProperty("streaming.sql.batchId")
        counts.add({f"{query}/{number}": (arrived, handled)})


def fill_in(nodes: Any) -> None:
    """Puts counts into the nodes of a plan's counters (`kernel/Ledger.scala`) that name them."""
    for node in nodes:
        if "counts" in node:
            kept = _made[node.pop("counts")].value
            node["arrived"], node["handled"] = kept.pop(node.pop("batch"), (0, 0))
        for side in node.get("from", ()):
            fill_in(side)
