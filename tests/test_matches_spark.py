"""Patterns and temporal joins on Spark against plain Python: disorder, ties, gaps, restarts."""

from __future__ import annotations

import random
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from oracles import joins, match_streams, matches, temporal
from oracles.streams import Batches, made, offsets, packed, steps_of
from run_case import LONG, WAYS, Way, each_way
from test_oracles import apart, arriving, outputs, unequal, verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def often(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy of values that are NULL at times."""
    return st.one_of(st.none(), *[values] * 6)


def stream(row: dict[str, Any]) -> Any:
    return row["stream"]


@cache
def rows_of_patterns() -> Batches:
    """Rows that often begin a pattern, and at times continue it."""
    rng = random.Random(3)

    def row() -> dict[str, Any]:
        jitter = timedelta(seconds=15 * rng.randint(-8, 8) * rng.choice([1, 1, 1, 5]))
        kind, i = rng.choice("aabbbccc"), rng.randint(0, 4)
        return {
            "kind": kind if rng.random() < 0.95 else None,
            "i": i if rng.random() < 0.85 else None,
            "offset": jitter,
        }

    return packed([[row() for _ in range(8)] for _ in range(60)], {"kind": "z", "i": 0})


@LONG
@pytest.mark.parametrize("way", WAYS)
def test_patterns(way: Way, tmp_path: Path, spark: SparkSession) -> None:
    batches = arriving(rows_of_patterns(), way)
    got = outputs("matches", {"rows": batches}, way, tmp_path, spark)
    rows = joins.timed(batches)
    for name, pattern in match_streams.STREAMS.items():
        right = matches.expected(rows, pattern)
        assert len(right) > 10, name
        found = [{column: row[column] for column in right[0]} for row in got[f"{name}_out"]]
        said = verdict(found, right, {"rows": batches}, stream, apart)
        assert said is None, f"{name}: {said}"


@cache
def rows_of_joins() -> dict[str, Batches]:
    row = st.fixed_dictionaries(
        {
            "k": often(st.sampled_from("xxy")),
            "i": often(st.integers(0, 4)),
            "offset": offsets,
        }
    )
    sides = made(st.tuples(steps_of(row, 5), steps_of(row, 5)), 120)
    last = {"k": "x", "i": 0}
    return {
        name: packed([pair[place] for pair in sides], last)
        for place, name in enumerate(("rows", "versions"))
    }


@pytest.mark.parametrize("way", each_way("whole"))
def test_temporal_joins(way: Way, tmp_path: Path, spark: SparkSession) -> None:
    inputs = {name: arriving(batches, way) for name, batches in rows_of_joins().items()}
    got = outputs("temporal", inputs, way, tmp_path, spark)
    rows, versions = (joins.timed(inputs[name]) for name in ("rows", "versions"))
    for name in temporal.STREAMS:
        right = temporal.expected(name, rows, versions)
        found = [{column: row[column] for column in right[0]} for row in got[f"{name}_out"]]
        said = verdict(found, right, inputs, stream, unequal)
        assert said is None, f"{name}: {said}"
