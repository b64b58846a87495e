"""Stateful operators above sessions, with rows distributed by the same keys.

Two sessions of `a` (1 + 2, then 8) and one of `b` (4) close as the last row comes; its own drains.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_spec_tests_spark import outcome_text, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HEAD = """\
CREATE SOURCE e (k STRING NOT NULL, v BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'in/e', format = 'json');
CREATE SOURCE f (k STRING NOT NULL, name STRING, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'in/f', format = 'json');
CREATE STREAM sums AS
  SELECT k, SUM(v) AS v, window_time AS ts
  FROM SESSION(e PARTITION BY k, ts, INTERVAL 90 SECONDS) GROUP BY k, window_time;
"""
TAIL = "\nCREATE SINK out FROM top WITH (connector = 'memory');\n"
ROWS = """\
name: above sessions
ways: {ways}
steps:
  - e:
      - {{k: a, v: 1, ts: '2026-01-01T10:00:00Z'}}
      - {{k: a, v: 2, ts: '2026-01-01T10:01:00Z'}}
      - {{k: b, v: 4, ts: '2026-01-01T10:00:30Z'}}
      - {{k: a, v: 8, ts: '2026-01-01T10:10:00Z'}}
    f:
      - {{k: a, name: one, at: '2026-01-01T10:02:00Z'}}
  - e: [{{k: z, v: 0, ts: '2026-01-01T10:30:00Z'}}]
    f: [{{k: z, name: last, at: '2026-01-01T10:30:00Z'}}]
  - drain
  - expect: {{out: {rows}}}
"""
KINDS = {
    "a program": (
        """\
CREATE OPERATOR top WITH (unbounded = 'a few') ON sums PARTITION BY k ORDER BY ts
  STATE (n BIGINT DEFAULT 0)
  RETURNS (k STRING, n BIGINT)
AS
ON EVENT
  SET n = n + v;
  EMIT k, n;
END;""",
        "[{k: a, n: 3}, {k: a, n: 11}, {k: b, n: 4}, {k: z, n: 0}]",
    ),
    "ids": (
        "CREATE STREAM top AS SELECT DISTINCT ON (k) k FROM sums;",
        "[{k: a}, {k: a}, {k: b}, {k: z}]",
    ),
    "ids for a time": (
        "CREATE STREAM top AS SELECT DISTINCT ON (k) WITHIN INTERVAL 1 DAY k FROM sums;",
        "[{k: a}, {k: b}, {k: z}]",
    ),
    "a frame": (
        "CREATE STREAM top AS SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts "
        "RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW) AS n FROM sums;",
        "[{k: a, n: 3}, {k: a, n: 11}, {k: b, n: 4}, {k: z, n: 0}]",
    ),
    "sessions": (
        "CREATE STREAM top AS SELECT k, SUM(v) AS n "
        "FROM SESSION(sums PARTITION BY k, ts, INTERVAL 20 MINUTES) GROUP BY k, window_start;",
        "[{k: a, n: 11}, {k: b, n: 4}, {k: z, n: 0}]",
    ),
    "a join, and ids above it": (
        "CREATE STREAM pairs AS SELECT s.k, s.v, f.name, s.ts FROM sums AS s JOIN f "
        "ON s.k = f.k AND f.at BETWEEN s.ts - INTERVAL 2 MINUTES AND s.ts + INTERVAL 2 MINUTES;\n"
        "CREATE STREAM top AS SELECT DISTINCT ON (k) k, name FROM pairs;",
        "[{k: a, name: one}, {k: z, name: last}]",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("way", ["restarts", "as written"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_above_sessions(
    kind: str, way: str, tmp_path: Path, spark: SparkSession
) -> None:
    statements, rows = KINDS[kind]
    (tmp_path / "spec.stream").write_text(HEAD + statements + TAIL, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    test = ROWS.format(ways=f"[{way}]", rows=rows)
    (tmp_path / "tests" / "rows.yaml").write_text(test, encoding="utf-8")
    (found,) = outcomes([tmp_path / "tests" / "rows.yaml"], spark)
    assert found.passed, outcome_text(found)
