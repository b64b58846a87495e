"""Failures whose texts are long."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from run_case import FIRST_ARRIVAL
from streamc.runtime import Arguments, run_script

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SPEC = """---
pipeline: failing
variables: {root: null}
---
CREATE SOURCE events (id BIGINT) WITH (connector = 'files', path = '${root}/in', format = 'json');
CREATE STREAM numbers AS SELECT id FROM events;
CREATE SINK given FROM numbers WITH (connector = 'python', function = 'failing_sink:fail');
"""
SAID = "py4j.protocol.Py4JJavaError: An error occurred while calling o1.write\n"


@pytest.mark.parametrize("until_caught_up", [True, False])
def test_a_batch_that_fails_at_length_ends_the_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until_caught_up: bool
) -> None:
    """A query that has ended by itself has failed, whatever Spark makes of the text."""

    def fail(batch: DataFrame, batch_id: int) -> None:
        if batch.count():
            raise ValueError(SAID + "x" * 200_000 + "\n" + "y\n" * 100_000)

    module = ModuleType("failing_sink")
    module.fail = fail  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "failing_sink", module)
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "0.json"
    path.write_text(json.dumps({"id": 1}) + "\n", encoding="utf-8")
    os.utime(path, (FIRST_ARRIVAL,) * 2)
    script = written(compiled_text(SPEC, "failing.stream"), tmp_path)
    state = str(tmp_path / "state")
    arguments = Arguments(until_caught_up, {"root": str(tmp_path)}, state=state)
    ended = run_script(script, arguments, spark=spark)
    assert ended.exit_code == 1
    [failure] = ended.failures
    assert failure.code.number == "SR0501"
    assert "the function of sink `given` raised" in failure.message
