"""The names of Spark's settings, and the one meant by a misspelt name.

Spark silently ignores a setting it does not know, so a typo would go unnoticed. Names that resemble
none are accepted: catalogs, file systems and listeners have settings of their own.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from ..reports.suggest import closest

_FILE = Path(__file__).with_name("spark_settings.json")
"""Written by ``scripts/make_spark_settings.py``."""

_OPEN = (
    "spark.hadoop.",
    "spark.executorEnv.",
    "spark.sql.catalog.",
    "spark.kubernetes.driver.",
    "spark.kubernetes.executor.",
    "spark.kubernetes.node.",
    "spark.metrics.conf.",
    "spark.yarn.appMasterEnv.",
)
"""Families with names that others define."""

_PROPERTIES = {
    "driver-memory": "spark.driver.memory",
    "executor-memory": "spark.executor.memory",
    "executor-cores": "spark.executor.cores",
    "num-executors": "spark.executor.instances",
    "packages": "spark.jars.packages",
}
"""Arguments of spark-submit, and the settings they stand for."""


@cache
def names() -> frozenset[str]:
    """Return the names of all settings of the Spark that specs are compiled for."""
    return frozenset(json.loads(_FILE.read_text(encoding="utf-8"))["settings"])


def meant(name: str) -> str | None:
    """Return the setting that a name misspells, None for one that is known or resembles none.

    >>> meant("spark.sql.shuffle.partition")
    'spark.sql.shuffle.partitions'
    >>> meant("spark.shuffle.partitions")
    'spark.sql.shuffle.partitions'
    >>> meant("spark.acme.retries")
    """
    known = names()
    if name in known or name.startswith(_OPEN):
        return None
    folded = _folded(name)
    alike = sorted(one for one in known if _folded(one) == folded)
    if alike:
        return alike[0]
    near = [one for one in closest(name, known, len(known)) if abs(len(one) - len(name)) <= 2]
    if near:
        return near[0]
    parts = name.split(".")
    if len(parts) > 2:
        tail = "." + ".".join(parts[1:])
        ending = [one for one in known if one.endswith(tail)]
        beginning = [one for one in known if one.startswith(name)] if len(parts[-1]) > 2 else []
        if len(found := ending or beginning) == 1:
            return found[0]
    return None


def in_full(name: str) -> str | None:
    """Return the setting that a name without ``spark.`` stands for, None if it stands for none.

    >>> in_full("sql.shuffle.partitions"), in_full("executor-memory")
    ('spark.sql.shuffle.partitions', 'spark.executor.memory')
    """
    full = _PROPERTIES.get(name.removeprefix("--"), f"spark.{name}")
    return full if full in names() else meant(full)


def _folded(name: str) -> str:
    return name.lower().translate({ord(char): None for char in "._- "})
