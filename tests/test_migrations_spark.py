"""Cases of ``migrations`` and ``evolutions`` on Spark: what a new version gives from the old state.

``rows.yaml`` of a case is a test of its old spec with an upgrade to the new one; the right rows are
worked out by hand, from what the new spec says of all rows, those before the upgrade included.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from golden_extension import cases
from test_spec_tests_spark import outcome_text, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


CASES = [*cases("migrations", "rows.yaml"), *cases("evolutions", "rows.yaml")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rows_behind_an_upgrade(case: Path, spark: SparkSession) -> None:
    found = outcomes([case / "rows.yaml"], spark)
    assert found
    failed = [outcome_text(outcome) for outcome in found if not outcome.passed]
    assert failed == [], "".join(failed)
