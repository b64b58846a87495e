"""Instants of the year 9999, and the first and last that there are, on real Spark.

Nothing overflows, and no row ends a query: one that has no window within time belongs to none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streamc.cli.testing.load import load_tests
from streamc.cli.testing.run import run_tests
from streamc.dsl.reports.render import render

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


EDGES = """
CREATE STREAM shifted AS
  SELECT window_start, COUNT(*) AS c
  FROM TUMBLE(notes, at, INTERVAL 1 HOUR, OFFSET INTERVAL 15 MINUTES)
  GROUP BY window_start ON LATE ROWS SEND TO missed;
CREATE STREAM lost AS SELECT k FROM missed;
CREATE STREAM stayed AS SELECT k, c FROM stays;
CREATE STREAM hopped AS
  SELECT k, COUNT(*) AS c FROM HOP(notes, at, INTERVAL 25 MINUTES, INTERVAL 1 HOUR)
  GROUP BY k, window_start;
CREATE STREAM each AS SELECT k FROM TUMBLE(notes, at, INTERVAL 1 HOUR);
CREATE STREAM tumbled_c AS SELECT c FROM tumbled;
CREATE STREAM shifted_c AS SELECT c FROM shifted;
CREATE STREAM panes_c AS SELECT c, pane FROM panes;
CREATE STREAM changing AS
  SELECT k, COUNT(*) AS c FROM TUMBLE(notes, at, INTERVAL 1 HOUR)
  GROUP BY k, window_start EMIT CHANGES;
CREATE STREAM tops AS
  SELECT k, COUNT(*) AS c FROM TUMBLE(notes, at, INTERVAL 1 HOUR)
  GROUP BY k, window_start, window_end
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY c DESC, k) = 1;
CREATE STREAM once AS SELECT DISTINCT ON (k) k FROM notes;
CREATE STREAM found AS SELECT * FROM notes MATCH_RECOGNIZE (
  PARTITION BY k ORDER BY at MEASURES COUNT(*) AS c
  PATTERN (A B?) WITHIN INTERVAL 1 HOUR DEFINE B AS B.k = 'a'
);
CREATE STREAM priced WITH (unbounded = 'few') AS
  SELECT n.k, r.k AS rate FROM notes AS n
  JOIN notes FOR SYSTEM_TIME AS OF n.at AS r ON r.k = n.k AND r.at > n.at - INTERVAL 1 DAY;
CREATE STREAM around AS
  SELECT a.k, b.k AS other FROM notes AS a
  JOIN notes AS b ON b.k = a.k AND b.at BETWEEN a.at - INTERVAL 1 HOUR AND a.at + INTERVAL 1 HOUR;
CREATE OPERATOR waits WITH (unbounded = 'few') ON notes PARTITION BY k ORDER BY at
  TIMERS (rung EVENT TIME, past EVENT TIME) RETURNS (k STRING, what STRING)
AS
ON EVENT notes
  START TIMER rung AT at + INTERVAL 1 HOUR;
  START TIMER past AT at - INTERVAL 1 HOUR;
ON TIMER rung EMIT k, 'rung';
ON TIMER past EMIT k, 'past';
END;
"""
EDGE_SINKS = (
    *("tumbled_c", "shifted_c", "lost", "hopped", "each", "grown", "stayed", "panes_c", "changing"),
    *("tops", "rolling", "once", "found", "alone", "priced", "around", "alarms", "waits"),
)
LAST, FIRST = "+294247-01-10T04:00:54.775807Z", "-290308-12-21T19:59:05.226Z"
A_DAY = "2026-01-01T10:30:00Z"
# All windows of these two are within time: Spark's arithmetic fails just after them.
LATE, EARLY = "+294247-01-10T02:30:00Z", "-290308-12-21T22:30:00Z"
WINDOWS = {
    "tumbled_c": "[{c: 1}, {c: 1}]",
    "shifted_c": "[{c: 1}, {c: 1}]",
    "lost": "[{k: a}]",
    "each": "[{k: c}, {k: b}]",
    "panes_c": "[{c: 1, pane: on_time}, {c: 1, pane: on_time}]",
    "changing": "[{k: c, c: 1}, {k: b, c: 1}]",
    "tops": "[{k: c, c: 1}, {k: b, c: 1}]",
    "grown": "[{k: c, c: 1}, {k: b, c: 1}]",
}


def holds(spark: SparkSession, folder: Path, spec: str, case: str, ways: int | None = None) -> None:
    (folder / "tests").mkdir()
    (folder / "ends.stream").write_text(spec, encoding="utf-8")
    test = folder / "tests" / "test.yaml"
    test.write_text(case, encoding="utf-8")
    suite = load_tests([test])
    assert not any(found.has_errors for found in suite.found), render(suite.found)
    for outcome in run_tests(suite.tests[:ways], spark=spark):
        found = {c.comparison.expect.sink: c.comparison.got for c in outcome.failures}
        assert outcome.passed, (outcome.test.name, outcome.fault, found)


def test_rows_of_the_year_9999_come_out_of_a_drain(tmp_path: Path, spark: SparkSession) -> None:
    holds(spark, tmp_path, ENDS, THE_YEAR_9999, ways=1)


def edges() -> str:
    sinks = "".join(
        f"CREATE SINK {name}_s FROM {name} WITH (connector = 'memory');\n" for name in EDGE_SINKS
    )
    return ENDS.partition("CREATE SINK")[0] + EDGES + sinks


def case(rows: list[tuple[str, str]], expected: dict[str, str]) -> str:
    """A test with rows one by one, each as a line: YAML has no such instants."""
    assert set(expected) == set(EDGE_SINKS)
    steps = [f"""  - notes: ['{{"k": "{k}", "at": "{at}"}}']\n""" for k, at in rows]
    sinks = "".join(f"      {name}_s: {found}\n" for name, found in expected.items())
    return f"name: the ends of time\nsteps:\n{''.join(steps)}  - drain\n  - expect:\n{sinks}"


ALL = "[{k: a, c: 1}, {k: b, c: 1}, {k: c, c: 1}]"
ROWS = {
    "rolling": ALL,
    "found": ALL,
    "once": "[{k: a}, {k: b}, {k: c}]",
    "priced": "[{k: a, rate: a}, {k: b, rate: b}, {k: c, rate: c}]",
    "around": "[{k: a, other: a}, {k: b, other: b}, {k: c, other: c}]",
    "waits": "[{k: a, what: past}, {k: a, what: rung}, {k: b, what: past}, "
    "{k: b, what: rung}, {k: c, what: past}, {k: c, what: rung}]",
}


def hopped(at: int) -> str:
    """What comes of windows of an hour, one each 25 minutes: of `c`, and of `b` at an instant."""
    of = {"c": 1767263400, "b": at}
    found = [
        f"{{k: {k}, c: 1}}" for k, at in of.items() for age in range(3600) if (at - age) % 1500 == 0
    ]
    return f"[{', '.join(found)}]"


RUNG = "{contains: true, rows: [{k: a, n: 1}, {k: b, n: 1}, {k: c, n: 1}]}"
"""Timers that are restarted fire once more with each later batch."""


@pytest.mark.long
def test_the_last_instant_of_all_ends_no_query(tmp_path: Path, spark: SparkSession) -> None:
    expected = {
        **WINDOWS,
        **ROWS,
        "hopped": hopped(9223372031400),
        "stayed": "[{k: c, c: 1}, {k: b, c: 1}]",
        # One waits for a partner that is later than any possible instant.
        "alone": "[{k: b, other: b}, {k: c, other: null}]",
        "alarms": RUNG,
    }
    rows = [("c", A_DAY), ("b", LATE), ("a", LAST)]
    holds(spark, tmp_path, edges(), case(rows, expected), ways=1)


@pytest.mark.long
def test_the_first_instants_of_all_are_rows_like_any_others(
    tmp_path: Path, spark: SparkSession
) -> None:
    expected = {
        **WINDOWS,
        **ROWS,
        "hopped": hopped(-9223372027800),
        # A session extends only into the time after its row.
        "stayed": ALL,
        "alone": "[{k: a, other: null}, {k: b, other: b}, {k: c, other: null}]",
        "alarms": RUNG,
    }
    rows = [("a", FIRST), ("b", EARLY), ("c", A_DAY)]
    holds(spark, tmp_path, edges(), case(rows, expected), ways=1)
