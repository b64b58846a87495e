"""A pipeline whose state is damaged and rolled back in tests, created once and copied.

Two queries (a windowed aggregate over a deduplication, and the raw rows) have three barriers, at
two input files each, and behind them a tail: a seventh file that is committed, an eighth that was
not. Batches and epochs have the same numbers: barrier 1 is epoch 3, barrier 2 epoch 6, barrier 3
epoch 9; 10 and 11 are committed, 12 is planned.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from compiled import compiled_text, written
from streamc.runtime import Arguments, Result, SilentView, run_script
from streamc.runtime.barriers.coordinator import Coordinator
from streamc.runtime.state.integrity import Inventory
from streamc.runtime.storage.file_system import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPEC = """\
---
variables: {root: string}
spark:
  spark.sql.streaming.stateStore.minDeltasForSnapshot: 5
  spark.sql.streaming.stateStore.maintenanceInterval: 200ms
---
CHECKPOINT EVERY INTERVAL 1 HOUR;

CREATE SOURCE payments (
  payment_id STRING NOT NULL,
  card_id STRING,
  amount BIGINT,
  paid_at TIMESTAMP,
  WATERMARK FOR paid_at AS paid_at - INTERVAL 10 SECONDS
) WITH (connector = 'files', path = '${root}/payments', format = 'json', max_files_per_trigger = 1);

CREATE STREAM once AS
  SELECT DISTINCT ON (payment_id) payment_id, card_id, amount, paid_at FROM payments;

CREATE STREAM per_minute AS
  SELECT card_id, window_start, SUM(amount) AS total, COUNT(*) AS payments
  FROM TUMBLE(once, paid_at, INTERVAL 1 MINUTE)
  GROUP BY card_id, window_start;

CREATE SINK spend FROM per_minute
  WITH (connector = 'files', path = '${root}/spend', format = 'parquet');

CREATE SINK every FROM payments
  WITH (connector = 'files', path = '${root}/every', format = 'json');
"""
FILES = 8
_TAKE = Inventory.take
_CREATE = Storage.create
BARRIERS = (1, 2, 3)


class Crash(Exception):
    """Stands in for the end of the process."""


class Told(SilentView):
    """Keeps the messages for the user."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


def write_payments(root: Path, number: int, rows: int = 20) -> None:
    """One input file: a minute of payments, some of them twice."""
    rng = random.Random(number)
    lines = [
        json.dumps(
            {
                "payment_id": f"{number}-{rng.randrange(rows)}",
                "card_id": f"c{rng.randrange(3)}",
                "amount": number * 100 + row,
                "paid_at": f"2026-01-01T00:{number:02d}:{row % 60:02d}Z",
            }
        )
        for row in range(rows)
    ]
    path = root / "payments" / f"{number:03d}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".tmp").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.with_suffix(".tmp").rename(path)
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def run(spark: SparkSession, root: Path, told: Told | None = None) -> Result:
    """Runs until all input is read."""
    script = root / "guarded.py"
    if not script.exists():
        written(compiled_text(SPEC, "guarded.stream"), root)
    given = Arguments(
        until_caught_up=True, variables={"root": str(root)}, state=str(root / "state")
    )
    return run_script(script, given, spark=spark, view=told or Told())


def make(spark: SparkSession, root: Path) -> None:
    """Creates a state with three barriers and a tail, and its outputs, in an empty folder."""
    root.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Inventory, "take", _wait_for_snapshots)
        _restart_maintenance(spark)
        for barrier in BARRIERS:
            write_payments(root, 2 * barrier - 2)
            write_payments(root, 2 * barrier - 1)
            assert run(spark, root).exit_code == 0
    write_payments(root, 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Coordinator, "finish", lambda self, stopping: None)
        assert run(spark, root).exit_code == 0
        write_payments(root, 7)
        patch.setattr(Storage, "create", _crash_at_a_record)
        assert run(spark, root).exit_code == 1
    _restart_maintenance(spark)


def whole(spark: SparkSession, root: Path) -> None:
    """All input in one uninterrupted run."""
    for number in range(FILES):
        write_payments(root, number)
    assert run(spark, root).exit_code == 0


def restore(kept: Path, root: Path) -> None:
    """Copies a prepared folder back to where it was created: source logs identify files by path."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(kept, root, copy_function=shutil.copy2)


def results(root: Path) -> tuple[Counter[tuple[Any, ...]], Counter[str]]:
    """The rows of both sinks as a plain reader sees them."""
    spend = Counter(
        tuple(row.values())
        for file in sorted((root / "spend").glob("*.parquet"))
        for row in pq.read_table(file).to_pylist()
    )
    every = Counter(
        line
        for file in sorted((root / "every").glob("*.json"))
        for line in file.read_text(encoding="utf-8").splitlines()
    )
    return spend, every


def _crash_at_a_record(self: Any, path: str, text: str) -> None:
    """Instead of publishing a batch."""
    if "/commits/" in path:
        raise Crash(path)
    _CREATE(self, path, text)


def _restart_maintenance(spark: SparkSession) -> None:
    """Makes the next query set how often state stores upload their snapshots."""
    jvm: Any = spark._jvm
    store = "org.apache.spark.sql.execution.streaming.state.StateStore$"
    getattr(jvm, store).__getattr__("MODULE$").stopMaintenanceTask()


def _wait_for_snapshots(self: Inventory, cut: Any) -> dict[str, tuple[int, str]]:
    time.sleep(0.6)
    return _TAKE(self, cut)
