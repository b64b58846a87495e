"""The gate while a pipeline changes: sources and queries added and removed on one state."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from run_case import FIRST_ARRIVAL
from streamc.runtime import Arguments, run_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SOURCE = """
CREATE SOURCE {name} (n INT, at TIMESTAMP, WATERMARK FOR at AS at)
WITH (connector = 'files', path = '${{root}}/{name}', format = 'json', max_files_per_trigger = 1);
"""
SINK = """
CREATE SINK {name}_out FROM {name}
WITH (connector = 'files', path = '${{root}}/out/{name}', format = 'json');
"""
ONE = "CREATE STREAM numbers AS SELECT n FROM a;"
BOTH = "CREATE STREAM numbers AS SELECT n FROM a UNION ALL SELECT n FROM b;"
WINDOW = """
CREATE STREAM sums AS
  SELECT window_start, SUM(n) AS total FROM TUMBLE(a, at, INTERVAL 1 MINUTE) GROUP BY window_start;
"""


class Place:
    """A folder with the input of two sources, a state, and what versions of a spec write."""

    def __init__(self, root: Path, spark: SparkSession) -> None:
        self.root = root
        self._spark = spark
        self._minute = 0
        for source in ("a", "b"):
            (root / source).mkdir()

    def put(self, source: str, n: int) -> None:
        """One file with one row, a minute after the one before."""
        self._minute += 1
        row = {"n": n, "at": f"2026-01-01T00:{self._minute:02d}:00Z"}
        path = self.root / source / f"{self._minute:03d}.json"
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
        arrival = FIRST_ARRIVAL + self._minute
        os.utime(path, (arrival, arrival))

    def run(self, *parts: str) -> None:
        text = "---\npipeline: changing\nvariables: {root: null}\n---\n" + "".join(parts)
        result = compiled_text(text, "changing.stream")
        assert not len(result.diagnostics), [d.message for d in result.diagnostics]
        arguments = Arguments(True, {"root": str(self.root)}, state=str(self.root / "state"))
        ended = run_script(written(result, self.root), arguments, spark=self._spark)
        assert ended.exit_code == 0, [failure.render() for failure in ended.failures]

    def rows(self, sink: str) -> list[dict[str, Any]]:
        files = sorted((self.root / "out" / sink).glob("*.json"))
        return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]

    def numbers(self) -> list[int]:
        return [row["n"] for row in self.rows("numbers")]


def source(name: str) -> str:
    return SOURCE.format(name=name)


def sink(name: str) -> str:
    return SINK.format(name=name)


@pytest.fixture
def place(tmp_path: Path, spark: SparkSession) -> Place:
    return Place(tmp_path, spark)


def test_a_source_that_is_added_is_read_from_its_beginning(place: Place) -> None:
    for number, name in enumerate(("a", "b", "a"), start=1):
        place.put(name, number)
    place.run(source("a"), ONE, sink("numbers"))
    assert place.numbers() == [1, 3]
    place.put("a", 4)
    place.run(source("a"), source("b"), BOTH, sink("numbers"))
    assert sorted(place.numbers()) == [1, 2, 3, 4]
    place.put("b", 5)
    place.run(source("a"), source("b"), BOTH, sink("numbers"))
    assert sorted(place.numbers()) == [1, 2, 3, 4, 5]


def test_a_source_that_is_removed_is_no_longer_read(place: Place) -> None:
    place.put("a", 1)
    place.put("b", 2)
    place.run(source("a"), source("b"), BOTH, sink("numbers"))
    place.put("a", 3)
    place.put("b", 4)
    place.run(source("a"), ONE, sink("numbers"))
    assert sorted(place.numbers()) == [1, 2, 3]


def test_a_stream_that_is_added_joins_with_all_of_the_input(place: Place) -> None:
    for number in (1, 2, 3):
        place.put("a", number)
    place.run(source("a"), ONE, sink("numbers"))
    for _ in range(2):
        place.put("a", 10)
        place.run(source("a"), ONE, sink("numbers"), WINDOW, sink("sums"))
    place.put("a", 20)
    place.run(source("a"), ONE, sink("numbers"), WINDOW, sink("sums"))
    assert place.numbers() == [1, 2, 3, 10, 10, 20]
    # The last minute is still open.
    sums = {row["window_start"][14:16]: row["total"] for row in place.rows("sums")}
    assert sums == {"01": 1, "02": 2, "03": 3, "04": 10, "05": 10}
    assert len(place.rows("sums")) == 5
