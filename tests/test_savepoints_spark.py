"""A pipeline goes on from a savepoint as if nothing had been: every kind of state, several cuts."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled, written
from streamc.runtime import Arguments, run_script
from streamc.runtime.savepoints.process import savepoint_of, savepoints_of, take_savepoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SPEC = Path(__file__).parent / "savepoints" / "all.stream"
SINKS = ("minutes_out", "visits_out", "seen_out", "streaks_out", "wide_out")
STEPS, CUTS = 6, (1, 3)


class Pipeline:
    """A pipeline in a folder of its own, fed a file of each source a step."""

    def __init__(self, root: Path, spark: SparkSession) -> None:
        self.root = root
        self.spark = spark
        for source in ("clicks", "views"):
            (root / "in" / source).mkdir(parents=True)
        (root / "build").mkdir()
        self.script = written(compiled(SPEC, "all.stream"), root / "build")

    def feed(self, step: int) -> None:
        chance = random.Random(step)

        def row(**more: object) -> str:
            at = datetime(2026, 1, 1) + timedelta(seconds=step * 70 + chance.randint(0, 75))
            known = {"user_id": chance.choice("abcd"), **more}
            instant = at.strftime("%Y-%m-%dT%H:%M:%SZ")
            return json.dumps({**known, ("ts" if more else "seen_at"): instant}) + "\n"

        clicks = [row(page=chance.choice("xyz"), cost=chance.randint(1, 9)) for _ in range(12)]
        self._write("clicks", step, clicks)
        self._write("views", step, [row() for _ in range(5)])

    def run(self, savepoint: str | None = None, profile: str | None = None) -> None:
        variables = {"input": str(self.root / "in"), "out": str(self.root / "out")}
        arguments = Arguments(True, variables, profile, self.state, savepoint)
        result = run_script(self.script, arguments, spark=self.spark)
        assert result.exit_code == 0, result.failures

    def take(self, name: str) -> None:
        take_savepoint(self.state, name=name, spark=self.spark)

    @property
    def state(self) -> str:
        return str(self.root / "state")

    def rows(self) -> dict[str, Counter[str]]:
        """All rows of each sink, as a plain reader finds them."""
        found = {}
        for sink in SINKS:
            files = (self.root / "out" / sink.removesuffix("_out")).glob("*.json")
            found[sink] = Counter(line for file in files for line in file.read_text().splitlines())
        return found

    def _write(self, source: str, step: int, lines: list[str]) -> None:
        (self.root / "in" / source / f"{step}.json").write_text("".join(lines))


def test_a_savepoint_goes_on_as_if_nothing_had_been(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline(tmp_path, spark)
    for step in range(STEPS):
        job.feed(step)
        job.run()
        if step in CUTS:
            job.take(f"cut-{step}")
    expected = job.rows()
    assert {sink for sink in SINKS if not expected[sink]} == set()

    kept = {one.name: one for one in savepoints_of(job.state)}
    assert list(kept) == [f"cut-{cut}" for cut in CUTS]
    assert all(o.rows for o in kept["cut-3"].queries["streaks"].operators.values())

    # Sinks are cut back to the savepoint, and get the rest again.
    job.run("cut-1", profile="wider")
    assert job.rows() == expected
    job.run("cut-3")
    assert job.rows() == expected
    # A savepoint of a restored state, restored.
    job.take("again")
    job.feed(STEPS)
    job.run()
    longer = job.rows()
    assert sum(longer["minutes_out"].values()) > sum(expected["minutes_out"].values())
    job.run("again", profile="wider")
    assert job.rows() == longer


def test_what_a_savepoint_holds(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline(tmp_path, spark)
    job.feed(0)
    job.feed(1)
    job.run()
    job.take("one")
    saved, folder = savepoint_of(job.state, "one")
    minutes = saved.queries["minutes"].operators["minutes"].tables["state"]
    assert list(minutes.columns)[:2] == ["window", "user_id"]
    assert "sum(cost).sum" in minutes.columns
    streaks = saved.queries["streaks"].operators["streaks"]
    assert {"record", "waiting", "cell_pages", "cell_seen", "cell_costs"} == set(streaks.tables)
    record = spark.read.parquet(f"{folder}/state/streaks/streaks/record")
    assert {"user_id", "n", "due"} < set(record.columns)
    for table in streaks.tables.values():
        rows = spark.read.parquet(f"{folder}/state/streaks/streaks/{table.name}")
        assert rows.count() == table.rows
