"""Spark keeps what the barriers before a run rely on, however many epochs follow them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from streamc.runtime import Arguments, run_script
from streamc.runtime.state.epoch_log import EpochLog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SPEC = """
---
pipeline: p
variables: {input: null}
---
CHECKPOINT EVERY INTERVAL 10 SECONDS RETAIN 2;
CREATE SOURCE events (k STRING) WITH (connector = 'files', path = '${input}', format = 'json');
CREATE STREAM all_of_them AS SELECT k FROM events;
CREATE SINK out FROM all_of_them
  WITH (connector = 'python', function = 'test_retention_spark:seen');
""".lstrip()
RETAIN = "spark.sql.streaming.minBatchesToRetain"
FILE = "FILE_OF_THE_TEST"


def seen(batch: DataFrame, batch_id: int) -> None:
    """Write down how many batches are kept: the job loads this module as one of its own."""
    Path(os.environ[FILE]).write_text(str(batch.sparkSession.conf.get(RETAIN)), encoding="utf-8")


def run(spark: SparkSession, root: Path, number: int) -> int:
    """Run with one more file; return the batches that Spark keeps."""
    (root / "in").mkdir(exist_ok=True)
    (root / "in" / f"{number}.json").write_text(json.dumps({"k": "a"}) + "\n", encoding="utf-8")
    script = written(compiled_text(SPEC, "p.stream"), root)
    arguments = Arguments(True, {"input": str(root / "in")}, None, str(root / "state"))
    folders = [str(Path(__file__).parent)]
    assert run_script(script, arguments, spark=spark, folders=folders).exit_code == 0
    return int(Path(os.environ[FILE]).read_text("utf-8"))


def test_a_run_keeps_what_the_barriers_before_it_rest_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if four thousand runs had each left an epoch and no barrier."""
    monkeypatch.setenv(FILE, str(tmp_path / "kept"))
    first = run(spark, tmp_path, 1)
    assert run(spark, tmp_path, 2) == first
    last = EpochLog.last.fget
    assert last is not None
    monkeypatch.setattr(EpochLog, "last", property(lambda log: last(log) + 4000))
    assert 4000 < run(spark, tmp_path, 3) < 4000 + first
