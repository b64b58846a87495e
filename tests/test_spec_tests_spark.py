"""Tests of specs on real Spark: the project's own, and one whose every way of failing is shown."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
import yaml
from chosen_ways import one_of_each_file
from golden_extension import cases
from json_outputs import output
from streamc.cli.testing.find import find_tests
from streamc.cli.testing.junit import junit_xml
from streamc.cli.testing.load import Suite, load_tests
from streamc.cli.testing.report import as_json, outcome_line, outcome_text, summary
from streamc.cli.testing.run import Outcome, run_tests
from streamc.compiler.spec_tests.update import updated
from streamc.compiler.spec_tests.ways import AS_WRITTEN, SAVEPOINTS, WAYS
from streamc.dsl.reports.render import render
from streamc.runtime.stepping.state import await_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LONG = pytest.mark.long
ROOT = Path(__file__).parent.parent
RUNS = cases("spec_runs")


def outcomes(paths: Sequence[Path], spark: SparkSession, *, once: bool = False) -> list[Outcome]:
    """How the tests of files end: all in all ways, or one of each file in one way."""
    suite = load_tests(find_tests(paths))
    assert not any(found.has_errors for found in suite.found), render(suite.found)
    return list(run_tests(one_of_each_file(suite.tests) if once else suite.tests, spark=spark))


@cache
def ways(file: Path) -> set[str]:
    """The ways of arrival that the tests of a file are for; each process that collects asks."""
    documents = yaml.load_all(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
    tests = [test for one in documents for test in (one if isinstance(one, list) else [one])]
    return {way for test in tests for way in test.get("ways", [AS_WRITTEN])}


FILES = find_tests([ROOT / "specs"])
OFTEN_RESTORED = ("sessionization",)


def name(file: Path) -> str:
    return f"{file.parent.parent.name}-{file.stem}"


EVERY_WAY = [
    pytest.param(file, way, id=f"{name(file)}-{way}".replace(" ", "_"))
    for file in FILES
    for way in WAYS
    if way in ways(file)
]
CHOSEN = (
    *("attribution-given_rows", "cdc_latest-given_rows", "temp_then_smoke-given_rows"),
    *("fx_temporal-given_rows", "meter_gap_fill-given_rows", "rate_limit-given_rows"),
    *("sessionization-given_rows", "trending-given_rows"),
)
"""One of each kind: programs, aggregates, patterns, sessions, top-N, temporal joins."""
OFTEN = [
    pytest.param(file, id=name(file), marks=[] if name(file) in CHOSEN else LONG) for file in FILES
]
RESTORED = [
    pytest.param(
        file, id=name(file), marks=[] if file.parent.parent.name in OFTEN_RESTORED else LONG
    )
    for file in FILES
]


@cache
def load_once(file: Path) -> Suite:
    return load_tests([file])


def check(found: Sequence[Outcome]) -> None:
    assert found
    failed = [outcome_text(outcome) for outcome in found if not outcome.passed]
    assert failed == [], "".join(failed)


@pytest.mark.parametrize("file", OFTEN)
def test_the_specs_of_the_project(file: Path, spark: SparkSession) -> None:
    check(list(run_tests(one_of_each_file(load_once(file).tests), spark=spark)))


@LONG
@pytest.mark.parametrize(("file", "way"), EVERY_WAY)
def test_the_specs_of_the_project_in_every_way(file: Path, way: str, spark: SparkSession) -> None:
    tests = [test for test in load_once(file).tests if test.way == way]
    check(list(run_tests(tests, spark=spark)))


@pytest.mark.parametrize("file", RESTORED)
def test_the_specs_of_the_project_continue_from_savepoints(file: Path, spark: SparkSession) -> None:
    """At every barrier: each batch is begun with a savepoint, on other partitions than the last."""
    tests = {test.case.span: replace(test, way=SAVEPOINTS) for test in load_once(file).tests}
    check(list(run_tests([*tests.values()], spark=spark)))


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=LONG if case.name == "steps" else []) for case in RUNS],
    ids=[case.name for case in RUNS],
)
def test_runs(
    case: Path,
    spark: SparkSession,
    golden: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is printed, written for build servers, and written back; state and outputs stay out."""
    monkeypatch.chdir(case)
    before = sorted(case.rglob("*"))
    found = outcomes([Path("tests/test.yaml")], spark)
    assert sorted(case.rglob("*")) == before
    golden("output.txt", "".join(map(outcome_text, found)) + timeless(summary(found, 1.0)))
    golden("lines.txt", "".join(map(outcome_line, found)))
    text = as_json(found)
    output(text)
    golden("output.json", timeless(text))
    golden("junit.xml", timeless(junit_xml(found)))
    text = Path("tests/test.yaml").read_text(encoding="utf-8")
    comparisons = [one.comparison for outcome in found for one in outcome.checked]
    golden("updated.yaml", updated(text, comparisons))


REPEATS = """\
CREATE FUNCTION seen(s STRING) RETURNS BIGINT AS 'clock_of_the_test:seen';
CREATE SOURCE payments (card_id STRING, amount DOUBLE, paid_at TIMESTAMP,
  WATERMARK FOR paid_at AS paid_at - INTERVAL 30 SECONDS
) WITH (connector = 'files', path = 'in', format = 'json');
CREATE STREAM lucky AS SELECT card_id, rand() AS luck FROM payments;
CREATE STREAM timed AS SELECT card_id, seen(card_id) AS at FROM payments;
CREATE STREAM sums AS
  SELECT card_id, window_start, SUM(amount) AS total
  FROM TUMBLE(payments, paid_at, INTERVAL 1 MINUTE) GROUP BY card_id, window_start;
"""
CLOCK = """\
import time
import pandas as pd

def seen(s: pd.Series) -> pd.Series:
    return pd.Series([time.time_ns()] * len(s))
"""
FIRST = "{payments: [{card_id: c1, amount: 1, paid_at: '2026-01-01T10:00:00Z'}]}"
LATER = "{payments: [{card_id: c1, amount: 2, paid_at: '2026-01-01T10:02:00Z'}]}"


@pytest.mark.parametrize(
    ("stream", "steps", "told"),
    [
        ("lucky", [FIRST, "crash"], "batch 0 ran again"),
        ("lucky", [FIRST, LATER, "rollback"], "what was rolled back ran again"),
        ("timed", [FIRST, "crash"], "batch 0 ran again"),
        ("sums", [FIRST, "crash", LATER, "rollback: 2", LATER, "crash", "rollback"], None),
    ],
)
def test_batches_that_run_again(
    stream: str, steps: Sequence[str], told: str | None, tmp_path: Path, spark: SparkSession
) -> None:
    (tmp_path / "clock_of_the_test.py").write_text(CLOCK, encoding="utf-8")
    sink = f"CREATE SINK out FROM {stream} WITH (connector = 'memory');\n"
    (tmp_path / "spec.stream").write_text(REPEATS + sink, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    expect = "expect: {out: [{card_id: c1, window_start: '2026-01-01T10:00:00Z', total: 1}]}"
    listed = [*steps, expect if told is None else "expect: {out: []}"]
    text = "steps:\n" + "".join(f"  - {step}\n" for step in listed)
    (tmp_path / "tests" / "t.yaml").write_text(text, encoding="utf-8")
    (outcome,) = outcomes([tmp_path], spark)
    if told is None:
        assert outcome.passed, outcome_text(outcome)
        return
    assert outcome.fault is not None
    assert outcome.fault.code.number == "SR0504" and outcome.fault.exit_code == 1
    first, *rows = outcome.fault.message.splitlines()
    assert first == f"sink `out` got other rows when {told}"
    assert [row.split(":")[0].strip() for row in rows] == ["first", "again"]


def timeless(text: str) -> str:
    text = re.sub(r'time="[\d.]+"', 'time="1.000"', text)
    return re.sub(r'"seconds": [\d.]+', '"seconds": 1.0', text)


def test_sinks_of_the_user_are_not_called(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "called.py").write_text("raise RuntimeError('imported')\n", encoding="utf-8")
    (tmp_path / "calls.stream").write_text(
        "CREATE SOURCE ticks (value BIGINT) WITH (connector = 'rate');\n"
        "CREATE SINK out FROM ticks WITH (connector = 'python', function = 'called:take');\n",
        encoding="utf-8",
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "t.yaml").write_text(
        "steps:\n  - {ticks: [{value: 7}], expect: {out: [{value: 7}]}}\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (outcome,) = outcomes([tmp_path], spark)
    assert outcome.passed, outcome_text(outcome)
    assert "called" not in sys.modules


def test_a_run_continues_once_the_tasks_of_what_was_stopped_have_ended() -> None:
    """They would open a store whose folder was removed, and recreate its folder."""
    running = iter([2, 1, 1, 0])
    asked: list[int] = []

    def tasks() -> int:
        asked.append(next(running))
        return asked[-1]

    spark = Mock()
    tracker = spark.sparkContext._jsc.sc.return_value.statusTracker.return_value
    tracker.getExecutorInfos.return_value = [Mock(numRunningTasks=tasks)]
    await_tasks(spark)
    assert asked == [2, 1, 1, 0]
