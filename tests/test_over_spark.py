"""OVER and COUNT_WINDOW on Spark against plain Python: disorder, ties, gaps, restarts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from oracles import joins, over, statistics
from oracles.streams import Batches, made, offsets, packed, steps_of
from run_case import LONG, WAYS, Way, each_way
from test_oracles import apart, arriving, outputs, verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def often(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy of values that are NULL at times."""
    return st.one_of(st.none(), *[values] * 6)


@cache
def rows_of_streams() -> Batches:
    row = st.fixed_dictionaries(
        {
            "kind": often(st.sampled_from("abc")),
            "i": often(st.integers(-3, 3)),
            "offset": offsets,
        }
    )
    return packed(made(steps_of(row, 8), 120), {"kind": "z", "i": 0})


SPECS = {"over": over.STREAMS, "statistics": statistics.STREAMS}


# A restart for each batch would compile the hundred aggregates of one of them as often.
CASES: dict[str, Sequence[Way]] = {"over": WAYS, "statistics": ("whole", "row_by_row")}
PARAMETERS = [
    pytest.param(
        spec,
        *way.values,
        id=f"{spec}-{way.values[0]}",
        # The statistics of a hundred frames are compiled for each.
        marks=LONG if spec == "statistics" else way.marks,
    )
    for spec, ways in CASES.items()
    for way in each_way("whole", ways)
]


@pytest.mark.parametrize(("spec", "way"), PARAMETERS)
def test_over(spec: str, way: Way, tmp_path: Path, spark: SparkSession) -> None:
    batches = arriving(rows_of_streams(), way)
    got = outputs(spec, {"rows": batches}, way, tmp_path, spark)
    rows = joins.timed(batches)
    for name, oracle in SPECS[spec].items():
        right = oracle(rows)
        assert len(right) > 10, name
        found = [{column: row[column] for column in right[0]} for row in got[f"{name}_out"]]
        inputs = {"rows": batches}
        said = verdict(found, right, inputs, lambda row: row["stream"], apart)
        assert said is None, f"{name}: {said}"
