"""How many rows Python operators received and handled, batch by batch.

Spark sums the counts of tasks on the driver. A batch's counts are forgotten once read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator

_made: dict[int, Accumulator[Any]] = {}


def keep_counts(counts: Accumulator[Any]) -> int:
    """Remembers the counts of an operator; returns the number that identifies them."""
    number = int(counts.aid)
    _made[number] = counts
    return number


def fill_in(nodes: Any) -> None:
    """Puts counts into the nodes of a plan's counters (`kernel/ledger`) that name them."""
    for node in nodes:
        if "counts" in node:
            kept = _made[node.pop("counts")].value
            node["arrived"], node["handled"] = kept.pop(node.pop("batch"), (0, 0))
        for side in node.get("from", ()):
            fill_in(side)
