"""What LANGUAGE says of keyed operators, a sentence at a time, against answers worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from test_spec_tests_spark import outcome_text, outcomes

pytestmark = pytest.mark.spark

CASES = sorted((Path(__file__).parent / "operators").glob("*/tests/*.yaml"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_operators(case: Path, spark: SparkSession) -> None:
    found = outcomes([case], spark)
    assert found
    failed = [outcome_text(outcome) for outcome in found if not outcome.passed]
    assert failed == [], "".join(failed)
