"""The ledgers of real runs: every row of the input is accounted for, also after a restart."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from streamc.runtime import Arguments, Result, SilentView, run_script
from streamc.runtime.accounting import batch_ledgers as books
from streamc.runtime.accounting.ledger import BatchLedger, total
from streamc.runtime.connectors.files.connector import FilesSourceRole
from streamc.runtime.connectors.kafka.source import read_messages
from streamc.runtime.connectors.reading import Declaration, Reading
from streamc.runtime.kinds.counts import PlanNode
from streamc.runtime.storage.notes import unseal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from streamc.runtime.storage.file_system import Storage

pytestmark = pytest.mark.spark

ARRIVAL = 1_700_000_000

SPEC = """---
variables: {in: null}
state_backend: memory
---

CREATE SOURCE orders (
  id     STRING NOT NULL,
  person STRING,
  amount INT,
  at     TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 1 MINUTE
) ON MALFORMED ROWS SKIP
WITH (connector = 'files', path = '${in}/orders', format = 'json', max_files_per_trigger = 1);

CREATE SOURCE payments (
  id STRING,
  at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = '${in}/payments', format = 'json', max_files_per_trigger = 1);

CREATE STREAM once AS
  SELECT DISTINCT ON (id) id, amount, at FROM orders WHERE amount > 0;

CREATE STREAM per_minute AS
  SELECT window_start, SUM(amount) AS amount
  FROM TUMBLE(once, at, INTERVAL 1 MINUTE)
  GROUP BY window_start;

CREATE STREAM visits AS
  SELECT person, window_start, window_end, COUNT(*) AS orders
  FROM SESSION(orders PARTITION BY person, at, INTERVAL 1 MINUTE)
  GROUP BY person, window_start, window_end;

CREATE STREAM paid AS
  SELECT o.id, p.at
  FROM orders o
  JOIN payments p ON o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 1 MINUTE;

CREATE SINK per_minute_out FROM per_minute WITH (connector = 'memory');
CREATE SINK visits_out FROM visits WITH (connector = 'memory');
CREATE SINK paid_out FROM paid WITH (connector = 'memory');
"""

FIRST = {
    "orders": [
        [
            '{"id": "a", "person": "u", "amount": 1, "at": "2026-01-01T10:00:10Z"}',
            '{"id": "a", "person": "u", "amount": 1, "at": "2026-01-01T10:00:20Z"}',
            '{"id": "b", "person": "u", "amount": 2, "at": "2026-01-01T10:00:30Z"}',
            '{"id": "c", "person": "u", "amount": 0, "at": "2026-01-01T10:00:40Z"}',
            '{"id": "torn", "person": "u", "amo',
            "",
        ],
        ['{"id": "d", "person": "u", "amount": 4, "at": "2026-01-01T10:05:00Z"}'],
    ],
    "payments": [
        ['{"id": "a", "at": "2026-01-01T10:00:15Z"}', '{"at": "2026-01-01T10:00:16Z"}'],
        ['{"id": "d", "at": "2026-01-01T10:05:30Z"}'],
    ],
}
"""Both watermarks are 10:04 or later after it, and everything before is out."""

THEN = {"orders": [['{"id": "e", "person": "u", "amount": 8, "at": "2026-01-01T10:00:50Z"}']]}
"""Late for all that keeps state."""

ORDERS = {"kind": "source", "in": 8, "out": 6, "malformed": 1, "blank": 1}
RIGHT: dict[str, dict[str, dict[str, Any]]] = {
    "per_minute": {
        "orders": {**ORDERS, "out": 5, "filtered": 1},
        # a and b expire a minute after they came.
        "once": {
            "kind": "dedup",
            "in": 5,
            "out": 3,
            "late": 1,
            "duplicates": 1,
            "expired": 2,
            "held": 1,
        },
        "per_minute": {
            "kind": "aggregate",
            "in": 3,
            "out": 1,
            "groups": 2,
            "created": 2,
            "expired": 1,
            "held": 1,
        },
    },
    "visits": {
        "orders": ORDERS,
        # Four orders within a minute are four sessions that become one.
        "visits": {
            "kind": "aggregate",
            "in": 6,
            "out": 1,
            "groups": 6,
            "late": 1,
            "created": 2,
            "expired": 1,
            "held": 1,
        },
    },
    "paid": {
        "orders": ORDERS,
        "payments": {"kind": "source", "in": 3, "out": 2, "filtered": 1, "filtered_null": 1},
        "paid": {
            "kind": "join",
            "in": 8,
            "in_left": 6,
            "in_right": 2,
            "out": 2,
            "late": 1,
            "added": 7,
            "expired": 5,
            "held": 2,
        },
    },
}


class Notes(SilentView):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


class Bench:
    """The pipeline on disk, and runs of it."""

    def __init__(self, root: Path, spark: SparkSession, spec: str = SPEC) -> None:
        self.root = root
        self.notes = Notes()
        self._spark = spark
        self._script = written(compiled_text(spec, "orders.stream"), root)
        self._files = 0

    def run(self, files: Mapping[str, Sequence[Sequence[str]]], *, strict: bool = True) -> Result:
        for source in FIRST:
            (self.root / "in" / source).mkdir(parents=True, exist_ok=True)
        for source, parts in files.items():
            for lines in parts:
                self._files += 1
                path = self.root / "in" / source / f"{self._files:03d}"
                path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
                # Files of one millisecond have no order.
                os.utime(path, (ARRIVAL + self._files,) * 2)
        asked = Arguments(
            until_caught_up=True,
            variables={"in": str(self.root / "in")},
            state=str(self.root / "state"),
        )
        return run_script(
            self._script, asked, spark=self._spark, view=self.notes, strict_ledger=strict
        )

    def ledgers(self) -> list[dict[str, Any]]:
        """Return what the barriers say, the oldest first."""
        folder = self.root / "state/generations/0001/barriers"
        return [unseal(path.read_text("utf-8"))["ledger"] for path in sorted(folder.iterdir())]

    def totals(self) -> dict[str, dict[str, Any]]:
        """Return the counts of all barriers together, without those that are zero."""
        return {
            query: {
                name: {t: v for t, v in entry.items() if v or t in ("in", "out")}
                for name, entry in total(one[query] for one in self.ledgers()).items()
            }
            for query in self.ledgers()[0]
        }


def test_every_row_is_somewhere(tmp_path: Path, spark: SparkSession) -> None:
    bench = Bench(tmp_path, spark)
    for files in (FIRST, THEN):
        result = bench.run(files)
        assert result.exit_code == 0, [failure.render() for failure in result.failures]
    assert len(bench.ledgers()) > 1
    assert bench.totals() == RIGHT
    assert not bench.notes.lines
    # What no barrier needs any more is gone, and what the next batch continues from exists.
    kept = sorted((tmp_path / "state/generations/0001/ledger/paid").glob("*.json"))
    assert kept and "paid" in json.dumps(unseal(kept[-1].read_text("utf-8")))


@pytest.fixture
def falsified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count one late row too many where duplicates are dropped."""
    read = books.read_counts

    def late(node: PlanNode) -> PlanNode:
        counted = (node.counters.get("late"), node.counters.get("duplicates"))
        more = {"late": 1} if counted == (0, 1) else {}
        inputs = tuple(tuple(map(late, side)) for side in node.inputs)
        return replace(node, inputs=inputs, counters={**node.counters, **more})

    def wrong(query: str, batch: int, plan: Sequence[PlanNode], *rest: Any) -> BatchLedger:
        return read(query, batch, list(map(late, plan)), *rest)

    monkeypatch.setattr(books, "read_counts", wrong)


@pytest.mark.usefixtures("falsified")
def test_a_leak_ends_a_strict_run(tmp_path: Path, spark: SparkSession) -> None:
    result = Bench(tmp_path, spark).run(FIRST)
    assert result.exit_code == 1
    (failure,) = result.failures
    text = failure.render()
    assert text.startswith("error[SR0508] rows-lost: `per_minute`, batch 1, operator `once`: ")
    assert "not in 3 = late 1 + duplicates 1 + out 2" in text


@pytest.mark.usefixtures("falsified")
def test_a_leak_is_a_warning_else(tmp_path: Path, spark: SparkSession) -> None:
    bench = Bench(tmp_path, spark)
    result = bench.run(FIRST, strict=False)
    assert result.exit_code == 0
    (line,) = bench.notes.lines
    assert line.startswith("rows are not accounted for: `per_minute`, batch 1, operator `once`")
    told = [one["per_minute"]["!leaks"] for one in bench.ledgers() if "!leaks" in one["per_minute"]]
    assert told == [
        {
            "kind": "leaks",
            "leaks": 1,
            "first": "batch 1, operator `once`: not in 3 = late 1 + duplicates 1 + out 2",
        }
    ]


MESSAGES = """---
variables: {in: null}
state_backend: memory
---

CREATE SOURCE orders (id INT NOT NULL, amount INT) ON MALFORMED ROWS SEND TO bad
WITH (connector = 'files', path = '${in}/orders', format = 'json');

CREATE STREAM dear AS SELECT id FROM orders WHERE amount > 5;
CREATE STREAM pairs AS SELECT id FROM orders UNION ALL SELECT -id AS id FROM orders;

CREATE SINK dear_out FROM dear WITH (connector = 'memory');
CREATE SINK pairs_out FROM pairs WITH (connector = 'memory');
CREATE SINK bad_out FROM bad WITH (connector = 'memory');
"""


def as_messages(
    role: FilesSourceRole, spark: SparkSession, storage: Storage, source: Declaration
) -> Reading:
    """Read lines of files as messages are read."""
    from pyspark.sql import functions as F

    def load() -> DataFrame:
        lines = spark.readStream.name(source.name).format("text").load(source.options["path"])
        place = [F.lit("t").alias("topic"), F.lit(0).alias("partition"), F.lit(0).alias("offset")]
        return lines.select(F.col("value").cast("binary").alias("value"), *place)

    return read_messages(load, source, "json", {})


def test_messages_that_are_no_rows(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FilesSourceRole, "read", as_messages)
    bench = Bench(tmp_path, spark, MESSAGES)
    good = [f'{{"id": {n}, "amount": {n}}}' for n in range(4, 8)]
    result = bench.run({"orders": [[*good, "torn", '{"amount": 9}', "", "  "]]})
    assert result.exit_code == 0, [failure.render() for failure in result.failures]
    counts = {"kind": "source", "in": 8, "out": 2, "malformed": 2, "blank": 2, "filtered": 2}
    twice = {"kind": "source", "in": 16, "out": 8, "malformed": 4, "blank": 4}
    bad = {"kind": "source", "in": 8, "out": 2, "blank": 2, "filtered": 4}
    assert bench.totals() == {
        "dear": {"orders": counts},
        "pairs": {"orders": twice},
        "bad": {"orders": bad},
    }
