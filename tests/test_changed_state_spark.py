"""A start without a savepoint on another version's state: what continues, what is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from guarded import Told
from streamc.cli.jobs.changed_state import changes_between
from streamc.runtime import Arguments, Result, RuntimeFault, run_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPEC = """
---
pipeline: p
variables: {input: null}
spark: {spark.sql.shuffle.partitions: 1}
---
CREATE SOURCE events (
  k STRING, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = '${input}', format = 'json');
CREATE STREAM twice AS SELECT k, v * 2 AS value, ts FROM events WHERE v > 0;
CREATE STREAM totals AS
  SELECT k, window_start, SUM(value) AS total FROM TUMBLE(twice, ts, INTERVAL 1 MINUTE)
  GROUP BY k, window_start;
CREATE SINK totals_out FROM totals WITH (connector = 'memory');
""".lstrip()


def run(spark: SparkSession, root: Path, spec: str) -> tuple[Result, str]:
    script = written(compiled_text(spec, "p.stream"), root)
    arguments = Arguments(True, {"input": str(root / "in")}, None, str(root / "state"))
    view = Told()
    result = run_script(script, arguments, spark=spark, view=view, compare=changes_between)
    return result, "\n".join(view.lines)


@pytest.fixture
def begun(spark: SparkSession, tmp_path: Path) -> Path:
    """A folder in which the spec has read one file."""
    (tmp_path / "in").mkdir()
    row = {"k": "a", "v": 1, "ts": "2026-01-01T00:00:00Z"}
    (tmp_path / "in" / "1.json").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert run(spark, tmp_path, SPEC)[0].exit_code == 0
    return tmp_path


def test_what_would_be_read_as_something_else(spark: SparkSession, begun: Path) -> None:
    for old, new, said in (
        ("v * 2", "v * 3", "totals: cell sum(value): it computes `sum(3 * v)` now"),
        ("SELECT k, v", "SELECT LOWER(k) AS k, v", "totals: key k: it was `k` and is `lower(k)`"),
    ):
        with pytest.raises(RuntimeFault) as caught:
            run(spark, begun, SPEC.replace(old, new))
        assert caught.value.code.number == "SR0405"
        assert said in caught.value.render() and "--from-savepoint" in caught.value.render()
    result, notes = run(spark, begun, SPEC)
    assert (result.exit_code, notes) == (0, ""), "the old version goes on"


def test_what_leaves_rows_chosen_in_two_ways_is_reported_once(
    spark: SparkSession, begun: Path
) -> None:
    changed = SPEC.replace("WHERE v > 0", "WHERE v > 5")
    result, notes = run(spark, begun, changed)
    assert result.exit_code == 0
    assert "begun by another version of the spec" in notes
    assert (
        "  totals: input: `5 < v` is asked of rows now; `0 < v` is asked of rows no more" in notes
    )
    assert run(spark, begun, changed)[1] == ""


def test_what_changes_nothing_is_not_reported(spark: SparkSession, begun: Path) -> None:
    renamed = SPEC.replace("AS total", "AS sum_of_it").replace("twice", "doubled")
    more = renamed.replace(
        "CREATE SINK",
        "CREATE STREAM counts AS\n  SELECT k, window_start, COUNT(*) AS n\n"
        "  FROM TUMBLE(events, ts, INTERVAL 1 MINUTE) GROUP BY k, window_start;\n"
        "CREATE SINK counts_out FROM counts WITH (connector = 'memory');\nCREATE SINK",
    )
    result, notes = run(spark, begun, more)
    assert (result.exit_code, notes) == (0, "")
