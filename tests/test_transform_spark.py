"""Tables of an operator after a migration: what merges, and what would be ambiguous."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING

import pytest
from streamc.contracts.migration import CellChange, EntriesChange, Made, OperatorChange
from streamc.contracts.plan import Aggregation, Program
from streamc.contracts.savepoint import SavedOperator
from streamc.runtime import RuntimeFault
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel
from streamc.runtime.savepoints.migrate.transform import transformed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SAVED = SavedOperator("watched", "operator", ("card",), ("count",), {})
WATCHED = Program(
    **{"id": "watched", "stream": "watched", "keys": (), "inputs": (), "ordered": False},
    **{"cells": (), "timers": (), "returns": ()},
)
SPEND = Aggregation("spend", "spend", window=None, keys=(), emit="changes", aggregates=())
CHANGE = OperatorChange(
    **{"id": "watched", "kind": "operator", "old": "watched", "where": None, "window": None},
    keys=(Made("card", "card"),),
    group=False,
    cells=(CellChange("count", "count", merge=None),),
    entries=(EntriesChange("seen", "map", "seen", key="upper(key)", value="value"),),
)


def test_entries_of_a_map_that_would_become_one(spark: SparkSession) -> None:
    record = spark.createDataFrame([("a", 2), ("b", 1)], "card STRING, count INT")
    kind = "card STRING, key STRING, value INT"
    apart = [("a", "de", 1), ("b", "DE", 2)]
    tables = {"record": record, "cell_seen": spark.createDataFrame(apart, kind)}
    found = transformed(tables, SAVED, CHANGE, WATCHED, WATCHED)["cell_seen"].collect()
    assert sorted(map(tuple, found)) == [("a", "DE", 1), ("b", "DE", 2)]
    tables["cell_seen"] = spark.createDataFrame([*apart, ("a", "DE", 3)], kind)
    with pytest.raises(RuntimeFault, match=r"several keys become \(card = a, key = DE\)"):
        transformed(tables, SAVED, CHANGE, WATCHED, WATCHED)


def test_what_only_spark_can_begin() -> None:
    """Its plan says so: ``add_percentile`` in ``tests/migrations``."""
    cell = CellChange("percentile(v, 0.5)", "CAST(NULL AS BINARY)", merge=None, opaque=True)
    saved = SavedOperator("spend", "aggregate", ("card",), (), {})
    with pytest.raises(RuntimeFault, match=r"`percentile\(v, 0.5\)` would start with a buffer"):
        transformed({}, saved, _regrouped(cell), SPEND, SPEND)


def test_words_of_registers_of_groups_that_become_one(spark: SparkSession) -> None:
    """Of each of the ten registers the largest stays, whatever the other nine are."""
    load_kernel(spark, kernel_jar(print))
    chance = Random(7)
    rows = [(chance.choice("xyz"), n, chance.getrandbits(60)) for n in range(40)]
    words = defaultdict(list)
    for country, _, word in rows:
        words[country].append(word)
    change = _regrouped(CellChange("about.MS[0]", "`about.MS[0]`", merge="registers"))
    saved = SavedOperator("spend", "aggregate", ("country", "card"), ("about.MS[0]",), {})
    table = spark.createDataFrame(rows, "country STRING, card INT, `about.MS[0]` BIGINT")
    found = transformed({"state": table}, saved, change, SPEND, SPEND)["state"]
    assert {row[0]: _registers(row[1]) for row in found.collect()} == {
        country: list(map(max, *map(_registers, own))) for country, own in words.items()
    }


def _regrouped(cell: CellChange) -> OperatorChange:
    """Return a change that makes groups by country of groups by country and card."""
    return OperatorChange(
        **{"id": "spend", "kind": "aggregate", "old": "spend", "where": None, "window": None},
        keys=(Made("country", "country"),),
        group=True,
        cells=(cell,),
    )


def _registers(word: int) -> list[int]:
    return [word >> 6 * place & 63 for place in range(10)]
