"""Panes and late rows on Spark against plain Python: every row is processed or sent."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from hypothesis import strategies as st
from oracles import panes
from oracles.streams import Batches, Watermarks, made, offsets, packed, steps_of
from oracles.windows import MINUTE, counted, grouped
from run_case import Way, each_way
from streamc.contracts.notes.status import QueryProgress
from streamc.runtime import Arguments, SilentView, Stop, run_script
from test_oracles import DELAY, arriving, outputs, unequal, verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
OLD = st.integers(-60, -10).map(lambda halves: timedelta(seconds=30 * halves))
LATE = {
    "late_tumbled": panes.last_end(panes.shifted, 0 * MINUTE),
    "late_hopped": panes.last_end(panes.overlapping, panes.LATENESS),
    "late_handled": lambda ts: ts,
}


@cache
def rows_of_streams() -> Batches:
    row = st.fixed_dictionaries(
        {
            "i": st.one_of(st.none(), st.integers(-3, 3)),
            "offset": st.one_of(offsets, offsets, OLD, OLD, st.none()),
        }
    )
    return packed(made(steps_of(row, 7), 150), {"i": None})


@pytest.mark.parametrize("way", each_way("whole"))
def test_each_row_is_taken_or_sent(way: Way, tmp_path: Path, spark: SparkSession) -> None:
    batches = arriving(rows_of_streams(), way)
    marks = Watermarks(batches, DELAY, idle=way == "restarted")
    right: dict[str, list[dict[str, Any]]] = {
        "tumbled": [
            {"stream": stream, "window_start": start, **counted(rows)}
            for (stream, start, _), rows in grouped(batches, marks, panes.shifted).items()
        ],
        "hopped": panes.panes(batches, marks, panes.overlapping),
        "handled": [
            {"stream": row["stream"], "i": row["i"], "ts": row["ts"]}
            for number, row in panes.rows_of(batches)
            if marks.takes(number, row["ts"])
        ],
        **{name: panes.late(batches, marks, until) for name, until in LATE.items()},
    }
    if way != "whole":
        assert all(len(rows) > 10 for rows in right.values())
        assert sum(row["pane"] == "late" for row in right["hopped"]) > 10
    got = outputs("panes", {"rows": batches}, way, tmp_path, spark)
    for name, rows in right.items():
        said = verdict(
            got[f"{name}_out"], rows, {"rows": batches}, lambda row: row["stream"], unequal
        )
        assert said is None, f"{name}: {said}"
    came = Counter(row["stream"] for _, row in panes.rows_of(batches))
    for name in ("tumbled", "handled"):
        sent = Counter(row["stream"] for row in got[f"late_{name}_out"])
        for row in got[f"{name}_out"]:
            sent[row["stream"]] += row.get("n", 1)
        assert {stream: n for stream, n in sent.items() if stream >= 0} == came, name


EARLY = """---
pipeline: early
variables: {in: null}
---

CREATE SOURCE a (
  k STRING NOT NULL, n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = '${in}', format = 'json');

CREATE STREAM early AS
  SELECT k, SUM(n) AS total, pane FROM TUMBLE(a, ts, INTERVAL 1 HOUR) GROUP BY k, window_start
  EMIT EARLY EVERY INTERVAL 2 SECONDS;

CREATE SINK out FROM early WITH (connector = 'memory');
"""


class UntilEarly(SilentView):
    """Adds a second file once a pane has come out, and requests a stop once the next one has."""

    def __init__(self, stop: Stop, folder: Path) -> None:
        self.stop = stop
        self.folder = folder
        self.given = False

    def update(self, queries: Sequence[QueryProgress]) -> None:
        out = min((query.rows_out for query in queries), default=0)
        if out >= 2:
            self.stop.request()
        elif out == 1 and not self.given:
            self.given = True
            write(self.folder, 2, 4)


def write(folder: Path, number: int, n: int) -> None:
    hidden = folder / f"_{number}.json"
    hidden.write_text(f'{{"k": "a", "n": {n}, "ts": "2026-01-01T10:0{number}:00Z"}}\n', "utf-8")
    hidden.rename(folder / f"{number}.json")


def test_the_clock_brings_early_panes(tmp_path: Path, spark: SparkSession) -> None:
    script = written(compiled_text(EARLY, "early.stream"), tmp_path)
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder, 1, 3)
    stop = Stop()
    threading.Timer(240, stop.request).start()
    arguments = Arguments(variables={"in": str(folder)}, state=str(tmp_path / "state"))
    view = UntilEarly(stop, folder)
    result = run_script(script, arguments, spark=spark, stop=stop, view=view)
    assert (result.exit_code, result.failures) == (0, ())
    assert [tuple(row) for row in result.rows["out"]] == [("a", 3, "early"), ("a", 7, "early")]
