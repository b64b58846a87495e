"""What OVER and COUNT_WINDOW become, run in plain Python against an oracle of their own.

The same oracle holds for Spark (``test_over_spark.py``).
"""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from compiled import compiled
from hypothesis import strategies as st
from oracles import over, statistics
from oracles.streams import BASE, END, Row, made, offsets
from program_interpreter import Program, run
from streamc.compiler.model import programs as m
from streamc.compiler.model.pipeline import Pipeline
from streamc.dsl.reports.render import render

FOLDER = Path(__file__).parent / "oracles"


@cache
def pipeline(spec: str) -> Pipeline:
    result = compiled(FOLDER / f"{spec}.stream", f"{spec}.stream")
    assert result.model is not None, render([result.diagnostics])
    return result.model


def program(name: str, spec: str = "over") -> m.Operator:
    relation = next(one for one in pipeline(spec).relations if one.name == name)
    (step,) = [one for one in relation.steps if isinstance(one, m.Operator)]
    return step


@cache
def streams(count: int) -> list[list[Row]]:
    kinds = st.one_of(st.none(), *[st.sampled_from("abc")] * 6)
    numbers = st.one_of(st.none(), *[st.integers(-3, 3)] * 6)
    row = st.fixed_dictionaries({"kind": kinds, "i": numbers, "offset": offsets})
    return made(st.lists(row, min_size=1, max_size=12), count)


def lines(rows: list[Row]) -> list[str]:
    shown = ({name: _plain(value) for name, value in row.items()} for row in rows)
    return sorted(json.dumps(row, sort_keys=True) for row in shown)


def _plain(value: Any) -> Any:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return round(float(value), 9) + 0.0
    match value:
        case None | str():
            return value
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {name: _plain(item) for name, item in value.items()}
    return str(value)


COUNTS = (30, pytest.param(200, marks=pytest.mark.long))


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", over.STREAMS)
def test_programs(name: str, count: int) -> None:
    step = program(name)
    for number, rows in enumerate(streams(count)):
        timed = [{**row, "stream": number, "ts": BASE + row["offset"]} for row in rows]
        given = over.rolled(timed, over.by_time) if name == "again" else timed
        if name == "again":
            given = [row for row in given if row["i"] is not None]
        got = run(step, {step.inputs[0].alias: given}, END)
        assert lines(got) == lines(over.STREAMS[name](timed)), timed


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", statistics.STREAMS)
def test_statistics(name: str, count: int) -> None:
    step = program(name, "statistics")
    for number, rows in enumerate(streams(count)[::5]):
        timed = [{**row, "stream": number, "ts": BASE + row["offset"]} for row in rows]
        got = run(step, {step.inputs[0].alias: statistics.numbered(timed)}, END)
        assert lines(got) == lines(statistics.STREAMS[name](timed)), timed


def test_a_key_is_gone_once_no_row_can_see_its_rows() -> None:
    step = program("by_time")
    key = Program(step, {"stream": 1})
    for minute in (0, 0, 4, 11):
        at = BASE + timedelta(minutes=minute)
        key.row("rows", {"stream": 1, "kind": "a", "i": minute, "ts": at})
    key.advance(BASE + timedelta(minutes=11))
    # What is older than six minutes was removed when the last row came.
    (held,) = (cell for name, cell in key.cells.items() if name.startswith("w__"))
    assert [row["i"] for row in held] == [11]
    key.advance(BASE + timedelta(minutes=17) - timedelta(microseconds=1))
    assert not key.is_empty
    key.advance(BASE + timedelta(minutes=17))
    assert key.is_empty
