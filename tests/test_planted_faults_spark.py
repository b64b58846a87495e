"""Random pipelines find faults of the planner: without a rule, some seed gives wrong rows.

`streamc` asks about the seed's edit, or carries the state over in another way, and the planner with
the fault does so without a word. The seeds are found by trying one after the other.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
from planted_faults import FAULTS
from test_migration_soundness_spark import check, silent, versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS: Mapping[str, int] = {
    "what is below is not compared": 4,
    "conditions are not compared": 78,
    "aggregates are known by name": 9,
    "cells of queries are known by name": 126,
    "what a query asks is not compared": 126,
    "keys are known by name": 55,
    "another function is no matter": 187,
    "another policy is no matter": 4,
    "another type is no matter": 42,
    "other malformed rows are no matter": 42,
    "the kind of a join below is not compared": 404,
    "no value is NULL": 216,
}
"""For each fault, a seed whose rows are wrong."""


@pytest.mark.parametrize("fault", SEEDS)
def test_a_fault_keeps_state_without_a_word(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = versions(random.Random(SEEDS[fault]))
    right = silent(pair)
    FAULTS[fault](monkeypatch)
    wrong = silent(pair)
    assert wrong is not None
    assert wrong != right


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("fault", SEEDS)
def test_a_fault_is_found(fault: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(SEEDS[fault])
    pair = versions(draw)
    FAULTS[fault](monkeypatch)
    migration = silent(pair)
    assert migration is not None
    with pytest.raises(AssertionError, match="other rows come out"):
        check(spark, pair, migration, draw)
