"""The metrics of a run on Spark, in its file and at its port while it goes on."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from prometheus_client.parser import text_string_to_metric_families
from streamc.runtime import Arguments, QueryProgress, SilentView, run_script
from test_metrics import free_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPEC = """\
---
pipeline: counted
variables: {in: null}
state_backend: memory
spark: {spark.sql.shuffle.partitions: 1}
---
CREATE SOURCE clicks (card STRING NOT NULL, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
ON MALFORMED ROWS SKIP
WITH (connector = 'files', path = '${in}', format = 'json', max_files_per_trigger = 1);
CREATE STREAM once AS
  SELECT DISTINCT ON (card, ts) card, ts FROM clicks;
CREATE SINK once_out FROM once WITH (connector = 'discard');
"""
FILES = [
    [{"card": "a", "ts": "2026-01-01T10:00:00Z"}, {"card": "a", "ts": "2026-01-01T10:00:00Z"}],
    [{"card": "b", "ts": "2026-01-01T12:00:00Z"}, {"ts": "2026-01-01T12:00:00Z"}],
    [{"card": "c", "ts": "2026-01-01T08:00:00Z"}, {"card": "d", "ts": "2026-01-01T12:00:00Z"}],
]

ARRIVAL = 1_700_000_000


class Scraper(SilentView):
    """Reads the port at each update."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/metrics"
        self.scraped: list[float] = []

    def update(self, queries: Sequence[QueryProgress]) -> None:
        with urllib.request.urlopen(self._url, timeout=30) as answer:
            found = values(answer.read().decode())
        self.scraped.append(found["streamc_run_active"])


def values(text: str) -> dict[str, float]:
    """Return the samples; the pipeline has one part of each kind."""
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_run(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number, rows in enumerate(FILES):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        path = tmp_path / "in" / f"{number}.json"
        path.write_text(text, encoding="utf-8")
        # Spark reads them in the order of their modification.
        os.utime(path, (ARRIVAL + number,) * 2)
    file, view = tmp_path / "counted.prom", Scraper(port := free_port())
    asked = Arguments(
        until_caught_up=True,
        variables={"in": str(tmp_path / "in")},
        state=str(tmp_path / "state"),
        metrics_port=str(port),
        metrics_file=file,
    )
    script = written(compiled_text(SPEC, "counted.stream"), tmp_path)
    assert run_script(script, asked, spark=spark, view=view).exit_code == 0
    assert set(view.scraped) == {1}
    found = values(file.read_text(encoding="utf-8"))
    assert found["streamc_run_active"] == found["streamc_run_failures"] == 0
    assert found["streamc_query_rows_in_total"] == found["streamc_source_rows_in_total"] == 6
    assert found["streamc_source_malformed_rows_total"] == 1
    operator = [f"streamc_operator_{name}_total" for name in ("rows_in", "rows_out")]
    assert [found[name] for name in operator] == [5, 3]
    assert found["streamc_operator_late_rows_total"] == 1
    assert found["streamc_operator_duplicate_rows_total"] == 1
    assert found["streamc_sink_rows_total"] == found["streamc_query_rows_out_total"] == 3
    assert found["streamc_operator_state_bytes"] > 0
    assert found["streamc_query_batch_duration_seconds"] > 0
    assert found["streamc_barriers_total"] >= 1
    assert found["streamc_barrier_size_bytes"] > 0
    assert 0 <= found["streamc_lease_age_seconds"] < 30
    assert found["streamc_query_leaks_total"] == found["streamc_barrier_failures_total"] == 0
