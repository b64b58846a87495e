"""The driver does not grow with each batch whose rows a sink fetches by an iterator."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from streamc.runtime import Arguments, run_script

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SPEC = """
---
pipeline: p
variables: {input: null}
---
CREATE SOURCE events (k STRING)
  WITH (connector = 'files', path = '${input}', format = 'json', max_files_per_trigger = 1);
CREATE STREAM all_of_them AS SELECT k FROM events;
CREATE SINK out FROM all_of_them
  WITH (connector = 'python', function = 'test_ended_jobs_spark:fetch');
""".lstrip()
BATCHES = 4
ROWS: list[Any] = []


def fetch(batch: DataFrame, batch_id: int) -> None:
    """Read the rows one by one: the job loads this module as one of its own."""
    ROWS.extend(batch.toLocalIterator())


def kept(spark: SparkSession) -> Any:
    """The executions whose jobs Spark keeps."""
    return spark._jsc.sc().dagScheduler().activeQueryToJobs()


def test_jobs_of_batches_are_forgotten(spark: SparkSession, tmp_path: Path) -> None:
    before = kept(spark).size()
    fetch(spark.createDataFrame([("a",)], "k STRING"), 0)
    assert kept(spark).size() > before, "what is worked around is no longer there"
    for number in range(BATCHES):
        (tmp_path / "in").mkdir(exist_ok=True)
        file = tmp_path / "in" / f"{number}.json"
        file.write_text(json.dumps({"k": "a"}) + "\n", encoding="utf-8")
    script = written(compiled_text(SPEC, "p.stream"), tmp_path)
    arguments = Arguments(True, {"input": str(tmp_path / "in")}, None, str(tmp_path / "state"))
    folders = [str(Path(__file__).parent)]
    result = run_script(script, arguments, spark=spark, folders=folders)
    assert result.failures == ()
    # Spark cleans up in a separate thread.
    deadline = time.monotonic() + 30
    while kept(spark).size() > 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert kept(spark).size() == 0
