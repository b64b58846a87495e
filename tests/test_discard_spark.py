"""Discarded rows: all of them are computed and counted, also over restarts."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
from compiled import compiled_text, written
from pyspark.errors import NumberFormatException
from streamc.contracts.notes.barrier import Manifest
from streamc.runtime import Arguments, Result, SilentView, read_status, run_script
from streamc.runtime.accounting.ledger import total
from streamc.runtime.base.errors import ROWS_LOST
from streamc.runtime.connectors.discard import DiscardSink
from streamc.runtime.connectors.interface import SinkRequest
from streamc.runtime.execution.rollback_command import check_sinks, opened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ARRIVAL = 1_700_000_000

SPEC = """\
---
pipeline: load
variables: {in: null, out: null}
state_backend: memory
spark: {spark.sql.shuffle.partitions: 2}
---
CREATE SOURCE orders (
  id BIGINT, buyer STRING, amount STRING, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = '${in}', format = 'json', max_files_per_trigger = 1);

CREATE STREAM paid AS SELECT id, buyer, CAST(amount AS INT) AS amount, at FROM orders;
CREATE STREAM counts WITH (unbounded = 'few buyers') AS
  SELECT buyer, COUNT(*) AS n FROM orders GROUP BY buyer EMIT CHANGES;
CREATE STREAM drawn AS SELECT id, RAND() AS x FROM orders;

CREATE SINK paid_out FROM paid WITH (@paid@);
CREATE SINK changes FROM counts WITH (connector = 'discard');
CREATE SINK latest FROM orders WITH (connector = 'discard', mode = 'upsert', key = 'buyer');
CREATE SINK drawn_out FROM drawn WITH (connector = 'discard');
"""

DISCARD = "connector = 'discard'"
FILES = "connector = 'files', path = '${out}', format = 'json'"


class Witness(SilentView):
    """Keeps the manifests of barriers."""

    def __init__(self) -> None:
        self.manifests: list[Manifest] = []

    def barrier(self, manifest: Manifest) -> None:
        self.manifests.append(manifest)


class Bench:
    """The pipeline on disk, and runs of it until the input ends."""

    def __init__(self, root: Path, spark: SparkSession) -> None:
        self.root = root
        self.witness = Witness()
        self._spark = spark
        self._files = 0
        (root / "in").mkdir()

    def run(self, *files: Sequence[tuple[str, str]], paid: str = DISCARD) -> Result:
        """Add files of buyers and amounts, and run."""
        for rows in files:
            self._files += 1
            lines = [
                {
                    "id": 100 * self._files + number,
                    "buyer": buyer,
                    "amount": amount,
                    "at": f"2026-01-01T10:{self._files:02d}:{number:02d}Z",
                }
                for number, (buyer, amount) in enumerate(rows)
            ]
            path = self.root / "in" / f"{self._files:03d}"
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
            os.utime(path, (ARRIVAL + self._files,) * 2)
        script = written(compiled_text(SPEC.replace("@paid@", paid), "load.stream"), self.root)
        asked = Arguments(
            until_caught_up=True,
            variables={"in": str(self.root / "in"), "out": str(self.root / "out")},
            state=str(self.root / "state"),
        )
        return run_script(script, asked, spark=self._spark, view=self.witness, strict_ledger=True)

    def rows(self) -> dict[str, int]:
        """Return how many rows each sink received, by all barriers."""
        found: dict[str, int] = {}
        for manifest in self.witness.manifests:
            for name, cut in manifest.sinks.items():
                found[name] = found.get(name, 0) + cut.rows
        return found

    def read(self, query: str) -> int:
        """Return how many rows of the source the ledger has for a query."""
        entries = total(one.ledger[query] for one in self.witness.manifests)
        return int(entries["orders"]["out"])

    def shown(self) -> dict[str, int]:
        """Return how many rows the last run has given to sinks, as `status` shows them."""
        return {one.query: one.rows_out for one in read_status(str(self.root / "state")).queries}

    def read_back(self) -> list[int]:
        """Return the ids of the rows that were written to files."""
        texts = [file.read_text("utf-8") for file in (self.root / "out").glob("*.json")]
        return sorted(json.loads(line)["id"] for text in texts for line in text.splitlines())


def check(result: Result) -> None:
    assert result.exit_code == 0, [failure.render() for failure in result.failures]


A, B = ("a", "1"), ("b", "2")


def test_rows_are_counted_over_a_restart(tmp_path: Path, spark: SparkSession) -> None:
    bench = Bench(tmp_path, spark)
    check(bench.run([A, A, B], [B]))
    assert bench.rows() == {"paid_out": 4, "changes": 3, "latest": 3, "drawn_out": 4}
    assert bench.shown() == {"paid": 4, "counts": 3, "orders": 4, "drawn": 4}
    check(bench.run([A, B, B]))
    assert bench.rows() == {"paid_out": 7, "changes": 5, "latest": 5, "drawn_out": 7}
    assert bench.shown() == {"paid": 3, "counts": 2, "orders": 3, "drawn": 3}
    assert {bench.read(query) for query in ("paid", "counts", "orders", "drawn")} == {7}
    # A run without input adds nothing.
    check(bench.run())
    assert bench.rows()["paid_out"] == 7


def test_the_ledger_checks_the_count(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = DiscardSink.write
    monkeypatch.setattr(
        DiscardSink, "write", lambda sink, batch, number: write(sink, batch, number) - 1
    )
    result = Bench(tmp_path, spark).run([A, B])
    assert result.exit_code == 1
    assert {failure.code for failure in result.failures} == {ROWS_LOST}


@pytest.mark.long
def test_a_rollback_has_nothing_to_undo(tmp_path: Path, spark: SparkSession) -> None:
    bench = Bench(tmp_path, spark)
    check(bench.run([A, B]))
    first = bench.witness.manifests[-1]
    check(bench.run([A, A, B]))
    assert bench.rows()["paid_out"] == 5
    with opened(str(tmp_path / "state")) as rollback:
        undo = rollback.undo(first.barrier)
        assert {(one.sink, one.rows, one.stays) for one in undo.sinks} == {
            ("paid_out", 3, False),
            ("changes", 2, False),
            ("latest", 2, False),
            ("drawn_out", 3, False),
        }
        check_sinks(undo, ())
        rollback.perform(undo, same_cuts=False)
    bench.witness.manifests = [
        one for one in bench.witness.manifests if one.barrier <= first.barrier
    ]
    check(bench.run())
    assert bench.rows() == {"paid_out": 5, "changes": 4, "latest": 4, "drawn_out": 5}


def test_a_column_that_nobody_needs_is_computed(tmp_path: Path, spark: SparkSession) -> None:
    result = Bench(tmp_path, spark).run([A, ("b", "two")])
    assert result.exit_code == 1
    text = "\n".join(failure.render() for failure in result.failures)
    assert "query `paid` failed: The value 'two' of the type" in text


def test_nothing_is_left_out_that_a_count_does_not_need(spark: SparkSession) -> None:
    asked = SinkRequest("s", "q", {}, (), None, Mock(), 1, print, ())
    frame = spark.createDataFrame([(1, "1"), (2, "2")], "id INT, text STRING")
    assert DiscardSink(asked).write(frame.selectExpr("id", "CAST(text AS INT) AS n"), 0) == 2
    torn = frame.selectExpr("id", "CAST(text || 'x' AS INT) AS n")
    assert torn.count() == 2
    with pytest.raises(NumberFormatException, match="CAST_INVALID_INPUT"):
        DiscardSink(asked).write(torn, 0)


def test_a_state_continues_from_files_to_nowhere_and_back(
    tmp_path: Path, spark: SparkSession
) -> None:
    bench = Bench(tmp_path, spark)
    check(bench.run([A, B], paid=FILES))
    check(bench.run([A], paid=DISCARD))
    assert bench.read_back() == [100, 101]
    check(bench.run([B], paid=FILES))
    assert bench.read_back() == [100, 101, 300]
    assert bench.rows()["paid_out"] == 4
