"""A pipeline continues from a savepoint under another spec: rows against plain Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, plan_in, written
from streamc.compiler.migrate.files.read import read_migration
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.document import document
from streamc.contracts.migration import Migration
from streamc.contracts.plan import Plan
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.source import SourceFile
from streamc.runtime import Arguments, RuntimeFault, read_status, run_script
from streamc.runtime.savepoints.process import savepoint_of, take_savepoint
from streamc.runtime.state.state import current_generation
from streamc.runtime.storage.local_files import LocalFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SOURCE = """---
pipeline: cards
variables: {input: null, out: null}
spark: {spark.sql.shuffle.partitions: 2}
---
CREATE SOURCE payments (
  card STRING NOT NULL,
  country STRING,
  amount DECIMAL(12, 2),
  at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 30 SECONDS
) WITH (connector = 'files', path = '${input}', format = 'json');
"""
SINK = """
CREATE SINK out FROM spend WITH (connector = 'files', path = '${out}', format = 'json');
"""
MINUTES = """
CREATE STREAM spend AS
  SELECT card, country, window_start, SUM(amount) AS total, COUNT(amount) AS n
  FROM TUMBLE(payments, at, INTERVAL 1 MINUTE) GROUP BY card, country, window_start;
"""
FIVES = """
CREATE STREAM spend AS
  SELECT card, window_start, SUM(amount) AS total, AVG(amount) AS mean, COUNT(amount) AS n
  FROM TUMBLE(payments, at, INTERVAL 5 MINUTES) GROUP BY card, window_start;
"""
COUNTS = """
CREATE OPERATOR spend WITH (unbounded = 'cards are few') ON payments PARTITION BY card ORDER BY at
  STATE (n INT DEFAULT 0, seen MAP<STRING, INT>)
  TIMERS (due EVENT TIME)
  RETURNS (card STRING, n INT, at TIMESTAMP, last STRING)
AS
ON EVENT
  SET n = n + 1;
  PUT seen[country] = coalesce(seen[country], 0) + 1;
  START TIMER due AT at + INTERVAL 2 MINUTES;
  EMIT card, seen[country], at, country;
ON TIMER due
  EMIT card, n, due, 'due';
END;
"""
RENAMED = COUNTS.replace("n INT DEFAULT 0,", "paid BIGINT DEFAULT 0, notes BIGINT DEFAULT 5,")
RENAMED = RENAMED.replace("SET n = n + 1;", "SET paid = paid + 1;")
RENAMED = RENAMED.replace("EMIT card, n, due", "EMIT card, CAST(paid + notes AS INT), due")
PLAIN = """
CREATE OPERATOR spend WITH (unbounded = 'cards are few') ON payments PARTITION BY card
  STATE (n INT DEFAULT 0)
  RETURNS (card STRING, n INT, at TIMESTAMP, last STRING)
AS
ON EVENT
  SET n = n + 1;
  EMIT card, n, at, country;
END;
"""
TIMED = PLAIN.replace("  RETURNS", "  TIMERS (once EVENT TIME)\n  RETURNS")
TIMED = TIMED.replace("END;", "ON TIMER once\n  EMIT card, n, once, 'once';\nEND;")
TIMED = TIMED.replace(
    "  EMIT card, n, at", "  IF n > 9 THEN START TIMER once AT at; END IF;\n  EMIT card, n, at"
)
T0 = datetime(2026, 1, 1)


@dataclass(frozen=True)
class Payment:
    card: str
    country: str
    amount: int
    second: int
    step: int

    @property
    def line(self) -> str:
        at = (T0 + timedelta(seconds=self.second)).strftime("%Y-%m-%dT%H:%M:%SZ")
        row = {"card": self.card, "country": self.country, "amount": self.amount, "at": at}
        return json.dumps(row) + "\n"


PAYMENTS = [
    Payment(card, country, amount, second, step)
    for step, rows in enumerate(
        [
            [("a", "de", 5, 10), ("a", "fr", 7, 50), ("b", "de", 1, 70), ("a", "de", 2, 130)],
            [("a", "de", 3, 140), ("b", "fr", 4, 170), ("a", "fr", 9, 185)],
            [("a", "de", 6, 190), ("c", "de", 8, 250), ("b", "de", 2, 290)],
            [("a", "de", 1, 310), ("c", "fr", 5, 420), ("b", "de", 3, 700)],
        ]
    )
    for card, country, amount, second in rows
]
CUT = 1


class Evolution:
    """A pipeline in a folder: the old spec up to the cut, the new one after it."""

    def __init__(self, root: Path, spark: SparkSession) -> None:
        self.root, self.spark = root, spark
        (root / "in").mkdir()
        self._plans: dict[str, Plan] = {}

    def run(self, stream: str, name: str, **more: Any) -> None:
        script = self.script(stream, name)
        variables = {"input": str(self.root / "in"), "out": str(self.root / "out")}
        arguments = Arguments(True, variables, None, str(self.root / "state"), **more)
        result = run_script(script, arguments, spark=self.spark)
        assert result.exit_code == 0, result.failures

    def script(self, stream: str, name: str) -> Path:
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        result = compiled_text(SOURCE + stream + SINK, "cards.stream")
        self._plans[name] = plan_in(result)
        return written(result, folder)

    def feed(self, steps: Iterable[int]) -> None:
        for step in steps:
            lines = [payment.line for payment in PAYMENTS if payment.step == step]
            (self.root / "in" / f"{step}.json").write_text("".join(lines))

    def migration(self, decisions: str) -> Migration:
        """The document of the way from the old spec to the new one, which must be complete."""
        old, new = self._plans["old"], self._plans["new"]
        diagnostics = Diagnostics(SourceFile("m.yaml", decisions))
        found = plan_migration(old, new, read_migration(old, new, diagnostics))
        assert not list(diagnostics)
        assert found.exit_code == 0
        return document(found)

    def rows(self) -> list[dict[str, Any]]:
        files = sorted((self.root / "out").glob("*.json"))
        lines = [line for file in files for line in file.read_text().splitlines()]
        return [json.loads(line, parse_float=Decimal) for line in lines]


@pytest.fixture
def evolved(tmp_path: Path, spark: SparkSession) -> Callable[[str, str, str], Evolution]:
    """Return a function that runs an old spec to the cut and a new one to the end."""

    def made(old: str, new: str, decisions: str) -> Evolution:
        found = Evolution(tmp_path, spark)
        for step in range(CUT + 1):
            found.feed([step])
            found.run(old, "old")
        take_savepoint(str(tmp_path / "state"), name="cut", spark=spark)
        found.script(new, "new")
        found.feed(range(CUT + 1, 4))
        found.run(new, "new", savepoint="cut", migration=found.migration(decisions))
        return found

    return made


def test_wider_windows_of_fewer_keys(evolved: Callable[[str, str, str], Evolution]) -> None:
    """What had closed before the cut is gone; an average is that of the kept sums and counts."""
    found = evolved(MINUTES, FIVES, "from: 1\nto: 1\noperators: {spend: {rewindow: auto}}\n")
    cut = max(p.second for p in PAYMENTS if p.step <= CUT) - 30
    kept = [p for p in PAYMENTS if p.step > CUT or (p.second // 60 + 1) * 60 > cut]
    sums: dict[tuple[str, int], list[int]] = {}
    for payment in kept:
        sums.setdefault((payment.card, payment.second // 300), []).append(payment.amount)
    closed = max(p.second for p in PAYMENTS) - 30
    expected = {
        (card, window): (sum(amounts), Decimal(sum(amounts)) / len(amounts), len(amounts))
        for (card, window), amounts in sums.items()
        if (window + 1) * 300 <= closed
    }
    new = [row for row in found.rows() if "mean" in row]
    assert len(new) == len(expected) > 2
    for row in new:
        total, mean, n = expected[row["card"], _second(row["window_start"]) // 300]
        assert (Decimal(row["total"]), row["n"]) == (total, n)
        assert Decimal(row["mean"]) == pytest.approx(mean, abs=Decimal("0.000001"))
    # The first windows, which have closed by now, were marked.
    state = str(found.root / "state")
    generation = current_generation(LocalFiles(), state)
    assert generation is not None
    (mark,) = generation.marks
    assert (mark.part, mark.until_ms) == ("spend", _milliseconds(cut + 30 + 300))
    assert read_status(state).marks == ()


def test_cells_of_a_program(evolved: Callable[[str, str, str], Evolution]) -> None:
    """A value has another name and a wider type, one begins with its default, entries stay."""
    decisions = "from: 1\nto: 1\noperators: {spend: {rename: {n: paid}, set: {notes: '7'}}}\n"
    found = evolved(COUNTS, RENAMED, decisions)
    ends: dict[str, int] = {}
    seen: dict[tuple[str, str], int] = {}
    rows = []
    passed = max(p.second for p in PAYMENTS) - 30
    for payment in sorted(PAYMENTS, key=lambda p: p.second):
        for card in [c for c, due in ends.items() if due < payment.second and due <= passed]:
            rows.append((card, "due", ends.pop(card)))
        if payment.second > passed:
            continue
        ends[payment.card] = payment.second + 120
        key = (payment.card, payment.country)
        seen[key] = seen.get(key, 0) + 1
        rows.append((payment.card, payment.country, payment.second, seen[key]))
    given = [
        (row["card"], row["last"], _second(row["at"]))
        if row["last"] == "due"
        else (row["card"], row["last"], _second(row["at"]), row["n"])
        for row in found.rows()
    ]
    assert sorted(map(str, given)) == sorted(map(str, rows))
    cut = max(p.second for p in PAYMENTS if p.step <= CUT) - 30
    known = {p.card for p in PAYMENTS if p.step <= CUT}
    due = [row for row in found.rows() if row["last"] == "due"]
    for row in due:
        # Existing keys get what the decision says, later ones the default.
        more = (7 if row["card"] in known else 5) if _second(row["at"]) > cut else 0
        assert row["n"] == _count(row["card"], _second(row["at"])) + more
    assert {_second(row["at"]) > cut for row in due} >= {True}


def test_a_timer_fires_for_keys_that_have_no_more_rows(tmp_path: Path, spark: SparkSession) -> None:
    job = Evolution(tmp_path, spark)
    job.feed([0])
    job.run(PLAIN, "old")
    take_savepoint(str(tmp_path / "state"), name="cut", spark=spark)
    job.script(TIMED, "new")
    when = "timestamp '2026-01-01 00:05:00'"
    decisions = f'from: 1\nto: 1\noperators: {{spend: {{timers: {{once: "{when}"}}}}}}\n'
    change = job.migration(decisions)
    (job.root / "in" / "later.json").write_text(Payment("z", "de", 1, 900, 9).line)
    job.run(TIMED, "new", savepoint="cut", migration=change)
    found = sorted((row["card"], row["n"]) for row in job.rows() if row["last"] == "once")
    assert found == [("a", 3), ("b", 1)]


def test_nothing_begins_without_the_decisions(tmp_path: Path, spark: SparkSession) -> None:
    found = Evolution(tmp_path, spark)
    found.feed([0])
    found.run(MINUTES, "old")
    state = str(tmp_path / "state")
    take_savepoint(state, name="cut", spark=spark)
    before = sorted(path.name for path in (tmp_path / "state/generations").iterdir())
    with pytest.raises(RuntimeFault, match="is of another version of the spec"):
        found.run(FIVES, "new", savepoint="cut")
    assert sorted(path.name for path in (tmp_path / "state/generations").iterdir()) == before
    assert savepoint_of(state, "cut")[0].barrier == 1
    found.run(MINUTES, "old")


def _milliseconds(second: int) -> int:
    return round((T0 + timedelta(seconds=second)).replace(tzinfo=UTC).timestamp() * 1000)


def _second(instant: str) -> int:
    return round((datetime.fromisoformat(instant[:19]) - T0).total_seconds())


def _count(card: str, second: int) -> int:
    return sum(p.card == card and p.second <= second for p in PAYMENTS)
