"""What patterns and temporal joins become, run in plain Python against oracles of their own.

The same oracles hold for Spark (``test_matches_spark.py``).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from compiled import compiled
from hypothesis import strategies as st
from oracles import match_streams, matches, temporal
from oracles.streams import BASE, END, Row, made, offsets, rounded
from program_interpreter import run
from streamc.compiler.model.pipeline import Pipeline
from streamc.compiler.model.programs import Operator
from streamc.dsl.reports.render import render

FOLDER = Path(__file__).parent / "oracles"


@cache
def pipeline(name: str) -> Pipeline:
    result = compiled(FOLDER / f"{name}.stream", f"{name}.stream")
    assert result.model is not None, render([result.diagnostics])
    return result.model


def program(name: str, relation: str) -> Operator:
    """Return the program of a relation of a spec of the oracles."""
    found = next(one for one in pipeline(name).relations if one.name == relation)
    step = found.steps[0]
    assert isinstance(step, Operator)
    return step


def shown(rows: list[Row], columns: list[str]) -> list[str]:
    return sorted(
        json.dumps({name: rounded(row[name]) for name in columns}, default=str) for row in rows
    )


@cache
def rows_of_patterns() -> list[list[Row]]:
    kinds = st.one_of(st.none(), *[st.sampled_from("abc")] * 8)
    numbers = st.one_of(st.none(), *[st.integers(0, 4)] * 6)
    row = st.fixed_dictionaries({"kind": kinds, "i": numbers, "offset": offsets})
    return made(st.lists(row, min_size=6, max_size=14), 150)


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", match_streams.STREAMS)
def test_patterns(name: str, share: int) -> None:
    """One of so many streams is tried."""
    step, stream = program("matches", name), match_streams.STREAMS[name]
    met = 0
    many = name in ("measured", "longest", "all_rows")
    for number, rows in enumerate(rows_of_patterns()[:: 3 if many and share == 1 else share]):
        timed = [{**row, "stream": number, "ts": BASE + row["offset"]} for row in rows]
        got = run(step, {"rows": timed}, END)
        right = matches.expected(timed, stream)
        columns = list(right[0]) if right else ["stream"]
        assert shown(got, columns) == shown(right, columns), shown(timed, ["ts", "kind", "i"])
        met += bool(right)
    assert met > (3 if share > 1 else 10)


@cache
def rows_of_joins() -> list[tuple[list[Row], list[Row]]]:
    row = st.fixed_dictionaries(
        {
            "k": st.one_of(st.none(), *[st.sampled_from("xxy")] * 6),
            "i": st.one_of(st.none(), *[st.integers(0, 4)] * 6),
            "offset": offsets,
        }
    )
    side = st.lists(row, min_size=1, max_size=8)
    return made(st.tuples(side, side), 150)


@pytest.mark.parametrize("name", temporal.STREAMS)
def test_temporal_joins(name: str) -> None:
    step, met = program("temporal", name), 0
    for number, sides in enumerate(rows_of_joins()):
        rows, versions = (
            [{**row, "stream": number, "ts": BASE + row["offset"]} for row in side]
            for side in sides
        )
        got = run(step, {"r": rows, "v": versions}, END)
        right = temporal.expected(name, rows, versions)
        columns = list(right[0]) if right else ["stream"]
        assert shown(got, columns) == shown(right, columns)
        met += any(row["version"] is not None for row in right)
    assert met > 10
