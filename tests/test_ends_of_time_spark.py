"""Instants of the year 9999, on real Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streamc.cli.testing.load import load_tests
from streamc.cli.testing.run import run_tests
from streamc.dsl.render import render

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ENDS = """
CREATE SOURCE notes (k STRING NOT NULL, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'in', format = 'json');

CREATE STREAM tumbled AS
  SELECT window_start, COUNT(*) AS c FROM TUMBLE(notes, at, INTERVAL 1 HOUR) GROUP BY window_start;
CREATE STREAM cumulated AS
  SELECT k, window_end, COUNT(*) AS c
  FROM CUMULATE(notes, at, INTERVAL 30 MINUTES, INTERVAL 1 HOUR) GROUP BY k, window_end;
CREATE STREAM grown AS SELECT k, c FROM cumulated;
CREATE STREAM stays AS
  SELECT k, window_start, COUNT(*) AS c
  FROM SESSION(notes PARTITION BY k, at, INTERVAL 1 HOUR) GROUP BY k, window_start;
CREATE STREAM panes AS
  SELECT window_start, COUNT(*) AS c, pane FROM TUMBLE(notes, at, INTERVAL 1 HOUR)
  GROUP BY window_start ALLOWED LATENESS INTERVAL 1 HOUR;
CREATE STREAM rolling AS
  SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY at RANGE INTERVAL 1 HOUR PRECEDING) AS c
  FROM notes;
CREATE STREAM alone AS
  SELECT a.k, b.k AS other FROM notes AS a
  LEFT JOIN others AS b ON b.k = a.k AND b.at BETWEEN a.at - INTERVAL 1 HOUR AND a.at;
CREATE STREAM others AS SELECT k, at FROM notes WHERE k = 'b';
CREATE OPERATOR alarms WITH (unbounded = 'few') ON notes PARTITION BY k ORDER BY at
  STATE (n INT DEFAULT 0) TIMERS (rings EVENT TIME) RETURNS (k STRING, n INT)
AS
ON EVENT notes START TIMER rings AT at + INTERVAL 1 HOUR;
ON TIMER rings SET n = n + 1; EMIT k, n; START TIMER rings AT watermark() + INTERVAL 1 HOUR;
END;

CREATE SINK tumbled_out FROM tumbled WITH (connector = 'memory');
CREATE SINK grown_out FROM grown WITH (connector = 'memory');
CREATE SINK stays_out FROM stays WITH (connector = 'memory');
CREATE SINK panes_out FROM panes WITH (connector = 'memory');
CREATE SINK rolling_out FROM rolling WITH (connector = 'memory');
CREATE SINK alone_out FROM alone WITH (connector = 'memory');
CREATE SINK alarms_out FROM alarms WITH (connector = 'memory');
"""
THE_YEAR_9999 = """
name: the year 9999
steps:
  - notes: [{k: a, at: '9999-12-31T23:59:59.999999Z'}]
  - drain
  - expect:
      tumbled_out: [{window_start: '9999-12-31T23:00:00Z', c: 1}]
      grown_out: [{k: a, c: 1}]
      stays_out: [{k: a, window_start: '9999-12-31T23:59:59.999999Z', c: 1}]
      panes_out: [{window_start: '9999-12-31T23:00:00Z', c: 1, pane: on_time}]
      rolling_out: [{k: a, c: 1}]
      alone_out: [{k: a, other: null}]
      alarms_out: [{k: a, n: 1}]
"""


def test_rows_of_the_year_9999_come_out_of_a_drain(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "ends.stream").write_text(ENDS, encoding="utf-8")
    case = tmp_path / "tests" / "test.yaml"
    case.write_text(THE_YEAR_9999, encoding="utf-8")
    suite = load_tests([case])
    assert not any(found.has_errors for found in suite.found), render(suite.found)
    for outcome in run_tests(suite.tests, spark=spark):
        assert outcome.passed, (outcome.fault, outcome.failures)
