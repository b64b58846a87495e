"""Cells and operators computed from retained rows: against Python, and runs from the beginning."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, plan_in, written
from streamc.cli.app import app
from streamc.compiler.migrate.files.read import read_migration
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.document import document
from streamc.compiler.migrate.results.text import plan_text
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.source import SourceFile
from streamc.runtime import Arguments
from streamc.runtime.savepoints.backfill.backfill import backfill_savepoint
from streamc.runtime.savepoints.process import savepoint_of, savepoints_of, take_savepoint
from test_evolutions_spark import COUNTS, CUT, MINUTES, PAYMENTS, Evolution, Payment
from test_evolutions_spark import _second as second
from test_savepoints_spark import SINKS, SPEC, STEPS, Pipeline, assert_same
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LONG = pytest.mark.long

FIVES = """
CREATE STREAM spend AS
  SELECT card, window_start, SUM(amount) AS total
  FROM TUMBLE(payments, at, INTERVAL 5 MINUTES) GROUP BY card, window_start;
"""
MORE = FIVES.replace(
    "AS total", "AS total, MAX(amount) AS largest, COLLECT_SET(country) AS countries"
)
BACKFILLED = """
from: 1
to: 1
operators: {spend: {accept: {'max(amount)': backfill, 'collect_set(country)': backfill}}}
"""
COMPUTED = """
CREATE STREAM spend AS
  SELECT upper(card) AS who, left(country, 1) AS place, window_start, SUM(amount) AS total
  FROM TUMBLE(payments, at, INTERVAL 5 MINUTES)
  GROUP BY upper(card), left(country, 1), window_start;
"""
COUNTED = MINUTES + COUNTS.replace("OPERATOR spend", "OPERATOR counts")
COUNTED += "CREATE SINK more FROM counts WITH "
COUNTED += "(connector = 'files', path = '${out}/more', format = 'json');\n"
FIRST = COUNTS.replace("n INT DEFAULT 0,", "n INT DEFAULT 0, begun TIMESTAMP,")
FIRST = FIRST.replace("SET n = n + 1;", "SET n = n + 1;\n  SET begun = coalesce(begun, at);")
FIRST = FIRST.replace("EMIT card, n, due", "EMIT card, n, begun")
ONCE = f"""{MINUTES}
CREATE STREAM once AS SELECT DISTINCT ON (card) card, amount, at FROM payments;
CREATE SINK more FROM once WITH (connector = 'files', path = '${{out}}/more', format = 'json');
"""


class Backfilled(Evolution):
    """A pipeline that ran with an old spec to the cut, with a savepoint there."""

    def __init__(self, root: Path, spark: SparkSession, old: str) -> None:
        root.mkdir()
        super().__init__(root, spark)
        for step in range(CUT + 1):
            self.feed([step])
            self.run(old, "old")
        take_savepoint(self.state, name="cut", spark=spark)

    @property
    def state(self) -> str:
        return str(self.root / "state")

    def backfill(self, new: str, decisions: str, *more: str) -> tuple[int, str]:
        """Call the command, and return its exit code and what it prints."""
        file = self.root / "m.yaml"
        file.write_text(decisions)
        script = str(self.script(new, "new"))
        given = ["backfill", script, "--from-savepoint", "cut", "--state", self.state]
        given += ["--migration", str(file), "--var", f"input={self.root}/in"]
        found = CliRunner().invoke(app, [*given, "--var", f"out={self.root}/out", *more])
        assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
        return found.exit_code, found.output

    def go_on(self, new: str) -> None:
        self.feed(range(CUT + 1, 4))
        self.run(new, "new", savepoint="cut-backfilled")

    def kept(self, name: str, operator: str) -> list[Any]:
        saved, folder = savepoint_of(self.state, name)
        (query,) = (id for id, one in saved.queries.items() if operator in one.operators)
        table = next(iter(saved.queries[query].operators[operator].tables))
        return self.spark.read.parquet(f"{folder}/state/{query}/{operator}/{table}").collect()


def from_the_beginning(root: Path, spark: SparkSession, spec: str) -> Evolution:
    root.mkdir()
    found = Evolution(root, spark)
    for step in range(4):
        found.feed([step])
        found.run(spec, "new")
    return found


def fives(payments: Iterable[Payment]) -> dict[tuple[str, int], list[Payment]]:
    found: dict[tuple[str, int], list[Payment]] = {}
    for payment in payments:
        found.setdefault((payment.card, payment.second // 300), []).append(payment)
    return found


def told(rows: Iterable[dict[str, Any]]) -> list[Any]:
    return sorted(
        (
            row["card"],
            second(row["window_start"]) // 300,
            Decimal(row["total"]),
            Decimal(row["largest"]),
            sorted(row["countries"]),
        )
        for row in rows
    )


@LONG
def test_cells_of_an_aggregate(spark: SparkSession, tmp_path: Path) -> None:
    job = Backfilled(tmp_path / "job", spark, FIVES)
    code, said = job.backfill(MORE, BACKFILLED)
    assert code == 0, said
    assert "of 2 keys 0 have no retained rows, and 0 are no longer kept" in said
    job.go_on(MORE)
    closed = max(p.second for p in PAYMENTS) - 30
    expected = sorted(
        (
            card,
            window,
            Decimal(sum(p.amount for p in held)),
            Decimal(max(p.amount for p in held)),
            sorted({p.country for p in held}),
        )
        for (card, window), held in fives(PAYMENTS).items()
        if (window + 1) * 300 <= closed
    )
    assert len(expected) > 3
    # For some, the largest is from before the cut.
    assert any(max(held, key=lambda p: p.amount).step <= CUT for held in fives(PAYMENTS).values())
    assert told(job.rows()) == expected


@LONG
def test_keys_that_are_computed(spark: SparkSession, tmp_path: Path) -> None:
    """Spark has one name for all of them; a savepoint has the names of the spec."""
    job = Backfilled(tmp_path / "job", spark, COMPUTED)
    saved, _ = savepoint_of(job.state, "cut")
    assert saved.queries["spend"].operators["spend"].keys == ("window", "who", "place")
    new = COMPUTED.replace("AS total", "AS total, MAX(amount) AS largest")
    code, said = job.backfill(
        new, "from: 1\nto: 1\noperators: {spend: {accept: {'max(amount)': backfill}}}\n"
    )
    assert code == 0, said
    job.go_on(new)
    groups: dict[tuple[str, str, int], list[int]] = {}
    for p in PAYMENTS:
        groups.setdefault((p.card.upper(), p.country[0], p.second // 300), []).append(p.amount)
    closed = max(p.second for p in PAYMENTS) - 30
    expected = sorted(
        (*key, Decimal(sum(amounts)), Decimal(max(amounts)))
        for key, amounts in groups.items()
        if (key[2] + 1) * 300 <= closed
    )
    found = sorted(
        (
            *(row["who"], row["place"], second(row["window_start"]) // 300),
            *(Decimal(row["total"]), Decimal(row["largest"])),
        )
        for row in job.rows()
    )
    assert found == expected


def test_rows_that_are_gone(spark: SparkSession, tmp_path: Path) -> None:
    job = Backfilled(tmp_path / "job", spark, FIVES)
    (job.root / "in" / "0.json").unlink()
    code, said = job.backfill(MORE, BACKFILLED)
    assert (code, "SR0422" in said) == (2, True)
    assert "source `payments`: 1 of 2 files that were read are no longer there" in said
    assert [one.name for one in savepoints_of(job.state)[0]] == ["cut"]
    assert not list((job.root / "state/savepoints").glob(".*"))
    code, said = job.backfill(MORE, BACKFILLED, "--partial", "--name", "part")
    assert code == 0, said
    found = {row["card"]: row["max(amount)"] for row in job.kept("part", "spend")}
    there = [p for p in PAYMENTS if p.step == CUT]
    assert found == {card: max(p.amount for p in there if p.card == card) for card in "ab"}


@LONG
def test_an_operator_added_whole(spark: SparkSession, tmp_path: Path) -> None:
    job = Backfilled(tmp_path / "job", spark, MINUTES)
    code, said = job.backfill(COUNTED, "from: 1\nto: 1\noperators: {counts: backfill}\n")
    assert code == 0, said
    job.go_on(COUNTED)
    whole = from_the_beginning(tmp_path / "whole", spark, COUNTED)
    # The aggregate next to it continues unchanged.
    assert sorted(map(str, job.rows())) == sorted(map(str, whole.rows()))
    passed, cut = (max(p.second for p in PAYMENTS if p.step <= n) - 30 for n in (3, CUT))
    expected = sorted(
        (p.card, p.country, p.second, sum(alike(p, q) and q.second <= p.second for q in PAYMENTS))
        for p in PAYMENTS
        if cut < p.second <= passed
    )
    rows = more(job)
    events = sorted(
        (r["card"], r["last"], second(r["at"]), r["n"]) for r in rows if r["last"] != "due"
    )
    assert events == expected
    # Some of them continue with counts from before the cut.
    assert any(p[3] > 1 for p in expected)
    later = [row for row in more(whole) if second(row["at"]) > cut]
    assert sorted(map(str, rows)) == sorted(map(str, later))
    assert any(row["last"] == "due" for row in rows)


@pytest.mark.long
def test_a_value_of_a_program(spark: SparkSession, tmp_path: Path) -> None:
    job = Backfilled(tmp_path / "job", spark, COUNTS)
    decisions = "from: 1\nto: 1\noperators: {spend: {accept: {begun: backfill}}}\n"
    code, said = job.backfill(FIRST, decisions)
    assert code == 0, said
    job.go_on(FIRST)
    whole = from_the_beginning(tmp_path / "whole", spark, FIRST)
    assert sorted(map(str, job.rows())) == sorted(map(str, whole.rows()))
    due = [row for row in job.rows() if row["last"] == "due"]
    first = {card: min(p.second for p in PAYMENTS if p.card == card) for card in "abc"}
    assert due
    for row in due:
        assert second(row["at"]) == first[row["card"]]


@LONG
def test_ids_that_are_forgotten(spark: SparkSession, tmp_path: Path) -> None:
    """The job's batches are repeated one by one: an id is remembered for as long as it was then."""
    job = Backfilled(tmp_path / "job", spark, MINUTES)
    code, said = job.backfill(ONCE, "from: 1\nto: 1\noperators: {once: backfill}\n")
    assert (code, "replay of once, 2 batches" in said) == (0, True), said
    job.feed([2])
    job.run(ONCE, "new", savepoint="cut-backfilled")
    job.feed([3])
    job.run(ONCE, "new")
    whole = from_the_beginning(tmp_path / "whole", spark, ONCE)
    behind = {p.second for p in PAYMENTS if p.step > CUT}
    later = [row for row in more(whole) if second(row["at"]) in behind]
    assert sorted(map(str, more(job))) == sorted(map(str, later))
    assert 0 < len(later) < len(behind)


ALL = SPEC.read_text(encoding="utf-8")
ALL_DECISIONS = """
from: 1
to: 1
operators:
  minutes: {accept: {'max(page)': backfill}}
  visits: {accept: {'count(*)': backfill}}
  minutes_of: backfill
  wide: backfill
  seen: backfill
  streaks: {accept: {pages: backfill, costs: backfill, due: backfill}}
"""


def before(spec: str) -> str:
    """Return the spec of all kinds of state without what the decisions backfill, but for a join."""
    spec = spec.replace("n,\n    MAX(page) AS top", "n")
    spec = spec.replace("window_end, COUNT(*) AS n", "window_end, SUM(cost) AS n")
    minutes = spec.index("CREATE STREAM minutes_of"), spec.index("CREATE STREAM visits")
    wide = spec.index("CREATE STREAM wide"), spec.index("CREATE STREAM seen")
    spec = spec[: minutes[0]] + spec[minutes[1] : wide[0]] + spec[wide[1] :]
    spec = re.sub(r"CREATE SINK wide_out.*\n", "", spec)
    spec = spec.replace("(n INT DEFAULT 0, pages MAP<STRING, INT>, ", "(n INT DEFAULT 0, ")
    spec = spec.replace(", costs LIST<DECIMAL(10, 2)>)", ")")
    spec = spec.replace("  PUT pages[page] = coalesce(pages[page], 0) + 1;\n", "")
    # Buffered rows have their costs all the same.
    spec = spec.replace("  APPEND cost TO costs;\n", "  SET n = n + CAST(cost - cost AS INT);\n")
    spec = spec.replace("size(pages), size(costs)", "0, 0")
    return re.sub(r"\b(TIMERS \(|TIMER )due\b", r"\1late", spec).replace(
        "seen, due;", "seen, late;"
    )


@LONG
@pytest.mark.parametrize("runs", [(1, 4, 7), range(STEPS + 1)], ids=["some", "each"])
def test_all_kinds_of_state(runs: Sequence[int], spark: SparkSession, tmp_path: Path) -> None:
    """`runs` are the steps after which both jobs run, one batch each."""
    old, new = (compiled_text(text, "all.stream") for text in (before(ALL), ALL))
    job, whole = Pipeline(tmp_path / "job", spark), Pipeline(tmp_path / "whole", spark)
    (job.root / "old").mkdir()
    script, job.script = job.script, written(old, job.root / "old")
    for step in range(5):
        for one in (job, whole):
            one.feed(step)
            if step in runs:
                one.run()
    job.take("cut")
    cut = {one: one.rows() for one in (job, whole)}
    plans = [plan_in(found) for found in (old, new)]
    diagnostics = Diagnostics(SourceFile("m.yaml", ALL_DECISIONS))
    found = plan_migration(*plans, read_migration(*plans, diagnostics))
    assert (found.exit_code, list(diagnostics)) == (0, []), plan_text(found)
    variables = {"input": str(job.root / "in"), "out": str(job.root / "out")}
    asked = Arguments(False, variables, None, job.state, "cut", document(found))
    lines: list[str] = []
    saved = backfill_savepoint(script, asked, tell=lines.append, spark=spark)
    batches = sum(step < 5 for step in runs)
    told_of = f"replay of minutes, wide, visits, seen, streaks, {batches} batches"
    assert told_of in "\n".join(lines)
    assert all(operator.rows for operator in saved.operators), saved.queries
    job.script = script
    first = min(step for step in runs if step > 4)
    for step in range(5, STEPS + 1):
        for one in (job, whole):
            one.feed(step)
            if step in runs:
                one.run("cut-backfilled" if step == first and one is job else None)
    later = [
        {sink: rows - cut[one].get(sink, Counter()) for sink, rows in one.rows().items()}
        for one in (job, whole)
    ]
    assert {sink for sink in SINKS if not later[1][sink]} == set()
    assert_same(later[0], later[1])


def alike(one: Payment, other: Payment) -> bool:
    return (one.card, one.country) == (other.card, other.country)


def more(job: Evolution) -> list[dict[str, Any]]:
    files = sorted((job.root / "out/more").glob("*.json"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]
