"""Cases of ``migrations`` and ``evolutions`` on Spark: what a new version gives from the old state.

``rows.yaml`` of a case is a test of its old spec with an upgrade to the new one; the right rows are
worked out by hand, from what the new spec says of all rows, those before the upgrade included.
`make test` runs cases that together do all that a restore can do, and `make test-long` the others.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from chosen_migrations import covering
from golden_extension import cases
from streamc.compiler.migrate.findings.decisions import Decisions
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.draft import draft
from test_migrate import plan_of
from test_spec_tests_spark import check, outcome_text, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


CASES = [*cases("migrations", "rows.yaml"), *cases("evolutions", "rows.yaml")]
OFTEN = covering(CASES)
PARAMETERS = [
    pytest.param(case, id=case.name, marks=[] if case in OFTEN else pytest.mark.long)
    for case in CASES
]


@pytest.mark.parametrize("case", PARAMETERS)
def test_rows_after_an_upgrade(case: Path, spark: SparkSession) -> None:
    check(outcomes([case / "rows.yaml"], spark))


TOO_NARROW = ("narrow_type_decided",)
"""Whose values do not survive a plain CAST: rejected before anything is created."""
DECIDED = [case for case in CASES if (case / "migration.yaml").exists()]


@pytest.mark.long
@pytest.mark.parametrize("case", DECIDED, ids=lambda case: case.name)
def test_what_a_draft_says_is_restored(case: Path, tmp_path: Path, spark: SparkSession) -> None:
    """For cases whose own decisions differ; their rows are not those of the draft."""
    plan = plan_migration(plan_of(case, "old"), plan_of(case, "new"))
    if plan.exit_code == 2:
        pytest.skip("a part is impossible: nothing is restored before a person gives it up")
    folder = tmp_path / case.name
    shutil.copytree(case, folder)
    (folder / "first.yaml").write_text(draft(plan, Decisions()), encoding="utf-8")
    test = yaml.safe_load((folder / "rows.yaml").read_text("utf-8"))
    at = next(n for n, step in enumerate(test["steps"]) if "upgrade" in step)
    test["steps"][at]["upgrade"] = {"spec": "new.stream", "migration": "first.yaml"}
    test["spec"] = str((case / test["spec"]).resolve())
    (folder / "rows.yaml").write_text(yaml.safe_dump(test, sort_keys=False), encoding="utf-8")
    (found,) = outcomes([folder / "rows.yaml"], spark)
    if case.name in TOO_NARROW:
        assert found.fault is not None and "fails for 1 row" in found.fault.message
    else:
        assert found.fault is None, outcome_text(found)
