"""Two versions from one savepoint over the same rows; the right answers are worked out by hand."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled, written
from streamc.cli.jobs.forking import Branch, fork, read_recording
from streamc.cli.testing.load import version_of
from streamc.compiler.driver import compile_source
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.document import document
from streamc.compiler.spec_tests.differences import difference_counts, difference_lines
from streamc.contracts.plan import Plan
from streamc.dsl.reports.source import SourceFile
from streamc.runtime import Arguments, run_script
from streamc.runtime.savepoints.process import savepoint_of, take_savepoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
CARDS = Path(__file__).parent.parent / "specs" / "card_fraud"


def branch(spec: Path, old: Plan) -> Branch:
    version = version_of(spec, compile_source(SourceFile.read(spec)))
    plan = plan_migration(old, version.plan)
    assert plan.exit_code == 0
    return Branch(version, document(plan), {}, None)


@pytest.mark.long
def test_two_versions_continue_from_one_savepoint(spark: SparkSession, tmp_path: Path) -> None:
    spec = CARDS / "card_fraud.stream"
    script = written(compiled(spec, spec.name), tmp_path)
    (tmp_path / "in").mkdir()
    shutil.copy(CARDS / "data" / "1.json", tmp_path / "in")
    state = str(tmp_path / "state")
    variables = {"input": str(tmp_path / "in"), "out": str(tmp_path / "out")}
    assert run_script(script, Arguments(True, variables, None, state), spark=spark).exit_code == 0
    take_savepoint(state, name="cut", spark=spark)
    saved, folder = savepoint_of(state, "cut")

    text = spec.read_text(encoding="utf-8")
    other = tmp_path / "other.stream"
    other.write_text(
        text.replace("10 MINUTES", "1 MINUTE")
        .replace("SUM(amount) AS total", "SUM(amount) + 1 AS total")
        .replace("COUNT(amount) AS payments", "COUNT(amount) AS paid"),
        encoding="utf-8",
    )
    (tmp_path / "recorded" / "payments").mkdir(parents=True)
    shutil.copy(CARDS / "data" / "2.json", tmp_path / "recorded" / "payments")
    branches = (branch(spec, saved.plan), branch(other, saved.plan))
    recording = read_recording(tmp_path / "recorded", branches)
    found = {one.name: one for one in fork(saved, folder, branches, recording, spark=spark)}

    # Open in the savepoint: c2 at 10:01, c1 at 10:01 and 10:02. Recorded: 10:04 and 10:08.
    spend = found["spend"]
    assert (spend.only_a, spend.only_b) == (("payments",), ("paid",))
    assert difference_counts(spend.comparison) == ["5 changed"]
    shown = {" ".join(line.split()) for line in difference_lines(spend.comparison)}
    assert "changed c1 2026-01-01T10:01:00Z 35.50 -> 36.50" in shown
    assert "changed c2 2026-01-01T10:08:00Z 2.00 -> 3.00" in shown
    # With one quiet minute, c1 was quiet between 10:02:20 and 10:04:00: no fourth in a row.
    alerts = found["alerts"].comparison
    assert difference_counts(alerts, ("only a", "only b")) == ["1 only a"]
    assert alerts.expect.rows[0].values["card_id"] == "c1"
    same = (branches[0], branches[0])
    assert not any(one.differs for one in fork(saved, folder, same, recording, spark=spark))
