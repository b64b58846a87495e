"""A job that tests feed: its input comes from the test, its parsing from the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from streamc.runtime.stepping.job import StepJob

Own = Callable[..., dict[str, Any]]


@pytest.fixture
def own(tmp_path: Path) -> Own:
    """Return a function that gives the options by which a source of a test is read."""
    job = StepJob(Mock(), Mock(), Mock(), {}, tmp_path)

    def options(connector: str, **given: Any) -> dict[str, Any]:
        return job._own_options("source `s`", connector, given, "rows/s")

    return options


@pytest.mark.parametrize("connector", ["files", "kafka"])
def test_json_is_parsed_as_the_pipeline_says(own: Own, connector: str) -> None:
    given = {"format": "json", "lenient": True, "timestamp_unit": "millis"}
    assert own(connector, **given).items() >= given.items()
    assert "lenient" not in own(connector, format="json")


def test_rows_of_other_formats_come_as_json(own: Own) -> None:
    """Parquet has NaN and its own instants, whatever JSON would make of them."""
    found = own("files", format="parquet", max_files_per_trigger=1)
    assert found.keys() == {"format", "options", "path"} and found["format"] == "json"
