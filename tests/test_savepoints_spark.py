"""A pipeline continues from a savepoint unaffected: every kind of state, several cuts."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled, written
from streamc.cli.app import app
from streamc.runtime import Arguments, RuntimeFault, run_script
from streamc.runtime.savepoints.process import savepoint_of, savepoints_of, take_savepoint
from streamc.runtime.state.history import read_barriers
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LONG = pytest.mark.long
SPEC = Path(__file__).parent / "savepoints" / "all.stream"
SINKS = ("minutes_out", "visits_out", "seen_out", "streaks_out", "wide_out")
STEPS, CUTS = 7, (2, 4)
RUNS = [
    pytest.param((2, 4, 6), id="some", marks=LONG),
    pytest.param(range(STEPS), id="each", marks=LONG),
]
"""The steps after which a job runs, and ends."""


class Pipeline:
    """A pipeline in its own folder, fed one file of each source per step."""

    def __init__(self, root: Path, spark: SparkSession) -> None:
        self.root = root
        self.spark = spark
        self.folder = "state"
        for source in ("clicks", "views"):
            (root / "in" / source).mkdir(parents=True)
        (root / "build").mkdir()
        self.script = written(compiled(SPEC, "all.stream"), root / "build")

    def feed(self, step: int) -> None:
        """Writes a file of each source; some clicks are those of the step before once more."""
        clicks = self._clicks(step)
        again = [
            line for line in self._clicks(step - 1) if json.loads(line)["ts"] > self._at(step, -40)
        ]
        self._write("clicks", step, [*clicks, *again])
        chance = random.Random(step + 1000)
        views = [
            {"user_id": chance.choice("abcd"), "seen_at": self._some(step, chance)}
            for _ in range(5)
        ]
        self._write("views", step, [json.dumps(view) + "\n" for view in views])

    def _clicks(self, step: int) -> list[str]:
        chance = random.Random(step)
        rows = [
            {
                "user_id": chance.choice("abcd"),
                "page": chance.choice("xyz"),
                "cost": chance.randint(1, 9),
                "ts": self._some(step, chance),
            }
            for _ in range(12)
        ]
        return [json.dumps(row) + "\n" for row in rows] if step >= 0 else []

    def _some(self, step: int, chance: random.Random) -> str:
        return self._at(step, chance.randint(0, 75))

    def _at(self, step: int, seconds: int) -> str:
        at = datetime(2026, 1, 1) + timedelta(seconds=step * 70 + seconds)
        return at.strftime("%Y-%m-%dT%H:%M:%SZ")

    def run(self, savepoint: str | None = None, profile: str | None = None) -> None:
        variables = {"input": str(self.root / "in"), "out": str(self.root / "out")}
        arguments = Arguments(True, variables, profile, self.state, savepoint)
        result = run_script(self.script, arguments, spark=self.spark)
        assert result.exit_code == 0, result.failures

    def take(self, name: str) -> None:
        take_savepoint(self.state, name=name, spark=self.spark)

    @property
    def state(self) -> str:
        return str(self.root / self.folder)

    def rows(self) -> dict[str, Counter[str]]:
        """All rows of each sink, as a plain reader finds them."""
        found = {}
        for sink in SINKS:
            files = (self.root / "out" / sink.removesuffix("_out")).glob("*.json")
            found[sink] = Counter(line for file in files for line in file.read_text().splitlines())
        return found

    def kept(self) -> dict[str, int]:
        """How many rows of state Spark counted at the newest barrier, by operator."""
        newest = read_barriers(self.state)[-1].manifest
        assert newest is not None
        return {operator.id: operator.rows for operator in newest.operators}

    def _write(self, source: str, step: int, lines: list[str]) -> None:
        (self.root / "in" / source / f"{step}.json").write_text("".join(lines))


def assert_same(found: dict[str, Counter[str]], expected: dict[str, Counter[str]]) -> None:
    differences = {
        sink: (sorted(found[sink] - expected[sink]), sorted(expected[sink] - found[sink]))
        for sink in SINKS
        if found[sink] != expected[sink]
    }
    assert differences == {}


def test_a_savepoint_continues_with_other_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """Sinks are truncated to the savepoint, and get the rest again."""
    job = Pipeline(tmp_path, spark)
    for step in range(STEPS):
        job.feed(step)
        if step == 3:
            job.run()
            job.take("cut")
    job.run()
    expected = job.rows()
    assert {sink for sink in SINKS if not expected[sink]} == set()
    job.run("cut", profile="wider")
    assert_same(job.rows(), expected)


@pytest.mark.parametrize("runs", RUNS)
def test_a_savepoint_continues_as_if_nothing_had_happened(
    runs: Sequence[int], spark: SparkSession, tmp_path: Path
) -> None:
    job = Pipeline(tmp_path, spark)
    for step in range(STEPS):
        job.feed(step)
        if step in runs:
            job.run()
        if step in CUTS:
            job.take(f"cut-{step}")
    expected = job.rows()
    assert {sink for sink in SINKS if not expected[sink]} == set()

    kept = {one.name: one for one in savepoints_of(job.state)[0]}
    assert list(kept) == [f"cut-{cut}" for cut in CUTS]
    assert all(o.rows for o in kept["cut-4"].queries["streaks"].operators.values())

    # Sinks are truncated to the savepoint, and get the rest again.
    job.run("cut-4")
    assert_same(job.rows(), expected)
    job.run("cut-2", profile="wider")
    assert_same(job.rows(), expected)
    with pytest.raises(RuntimeFault, match="has been taken back to before it"):
        job.run("cut-4")
    assert_same(job.rows(), expected)
    # A savepoint of a restored state, restored.
    job.take("again")
    job.feed(STEPS)
    job.run()
    longer, kept_rows = job.rows(), job.kept()
    assert sum(longer["minutes_out"].values()) > sum(expected["minutes_out"].values())
    job.run("again", profile="wider")
    assert_same(job.rows(), longer)
    assert job.kept() == kept_rows


@LONG
def test_programs_continue_after_a_rollback_and_a_move(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline(tmp_path / "here", spark)
    for step in range(3):
        job.feed(step)
        job.run()
    expected = job.rows()
    arguments = ["rollback", "--to", "1", "--state", job.state, "--yes"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    # The second run finds the generation before taken away.
    job.run()
    job.run()
    assert_same(job.rows(), expected)
    Path(job.state).rename(job.root / "moved")
    job.folder = "moved"
    job.feed(3)
    job.run()
    assert sum(map(len, job.rows().values())) > sum(map(len, expected.values()))


def test_what_a_savepoint_holds(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline(tmp_path, spark)
    job.feed(0)
    job.feed(1)
    job.run()
    job.take("one")
    saved, folder = savepoint_of(job.state, "one")
    assert saved.spec == SPEC.read_text("utf-8")
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
