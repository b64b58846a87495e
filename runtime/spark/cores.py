"""How many cores a job has, for the number of its state's partitions."""

from __future__ import annotations

from collections.abc import Mapping

_DYNAMIC = "spark.dynamicAllocation"
_UNLIMITED = 10_000
"""More executors than this mean that there is no limit; Spark's default is the largest integer."""


def cores_of(master: str, conf: Mapping[str, str], registered: int) -> int:
    """The cores of a Spark with a master and settings, at least 1.

    `registered` are those of the executors that have answered so far (`defaultParallelism`). On a
    cluster some may be late: what the settings promise counts, where they promise a number.
    """
    if master.startswith("local"):
        return max(registered, 1)
    each = int(conf.get("spark.executor.cores", "1"))
    promised = int(conf.get("spark.cores.max", "0"))
    if conf.get(f"{_DYNAMIC}.enabled", "false").lower() == "true":
        most = int(conf.get(f"{_DYNAMIC}.maxExecutors", "0"))
        promised = promised or (most * each if most < _UNLIMITED else 0)
    elif not promised:
        promised = int(conf.get("spark.executor.instances", "0")) * each
    return max(promised, registered, 1)
