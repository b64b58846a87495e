"""Random values: all sinks of a stream hold the same ones, for each row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from streamc.runtime import Arguments, run_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPEC = """\
---
pipeline: drawn
variables: {root: null}
---
CREATE SOURCE visits (visitor INT)
WITH (connector = 'files', path = '${root}/in', format = 'json', max_files_per_trigger = 1);
CREATE STREAM numbered AS SELECT visitor, UUID() AS visit, RAND() AS lot FROM visits;
CREATE SINK kept FROM numbered WITH (connector = 'files', path = '${root}/kept', format = 'json');
CREATE SINK copied FROM numbered
WITH (connector = 'files', path = '${root}/copied', format = 'csv');
CREATE SINK held FROM numbered WITH (connector = 'memory');
CREATE SINK held_too FROM numbered WITH (connector = 'memory');
"""


def test_all_sinks_of_a_stream_hold_the_same_values(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for file in range(2):
        rows = [json.dumps({"visitor": 10 * file + n}) for n in range(10)]
        (tmp_path / "in" / f"{file}.json").write_text("\n".join(rows), encoding="utf-8")
    result = compiled_text(SPEC, "drawn.stream")
    assert not len(result.diagnostics)
    asked = Arguments(True, {"root": str(tmp_path)}, state=str(tmp_path / "state"))
    done = run_script(written(result, tmp_path), asked, spark=spark)
    assert done.exit_code == 0, [failure.render() for failure in done.failures]
    held = {(row.visitor, row.visit, row.lot) for row in done.rows["held"]}
    assert {row[0] for row in held} == set(range(20))
    assert len({row[1] for row in held}) == len({row[2] for row in held}) == 20
    columns = "visitor INT, visit STRING, lot DOUBLE"
    kept = spark.read.schema(columns).json(str(tmp_path / "kept")).collect()
    copied = spark.read.schema(columns).csv(str(tmp_path / "copied"), header=True).collect()
    for other in (done.rows["held_too"], kept, copied):
        assert len(other) == 20 and {tuple(row) for row in other} == held
