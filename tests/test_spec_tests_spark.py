"""Tests of specs on real Spark: the project's own, and one whose every way of failing is shown."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from golden_extension import cases
from streamc.cli.testing.find import find_tests
from streamc.cli.testing.junit import junit_xml
from streamc.cli.testing.load import load_tests
from streamc.cli.testing.report import as_json, outcome_line, outcome_text, summary
from streamc.cli.testing.run import Outcome, run_tests
from streamc.compiler.cases.update import updated
from streamc.dsl.render import render

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parent.parent
RUNS = cases("spec_runs")


def outcomes(paths: Sequence[Path], spark: SparkSession) -> list[Outcome]:
    suite = load_tests(find_tests(paths))
    assert not any(found.has_errors for found in suite.found), render(suite.found)
    return list(run_tests(suite.tests, spark=spark))


def test_the_specs_of_the_project(spark: SparkSession) -> None:
    found = outcomes([ROOT / "specs"], spark)
    assert len(found) >= 12
    failed = [outcome_text(outcome) for outcome in found if not outcome.passed]
    assert failed == [], "".join(failed)


@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.name)
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
    golden("output.json", timeless(as_json(found)))
    golden("junit.xml", timeless(junit_xml(found)))
    text = Path("tests/test.yaml").read_text(encoding="utf-8")
    comparisons = [one.comparison for outcome in found for one in outcome.checked]
    golden("updated.yaml", updated(text, comparisons))


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
