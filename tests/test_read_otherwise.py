"""Sources and tables that are read differently, and operators whose state is then different.

Under each edit is what is reported at the operator above it, None if nothing changes.
"""

from __future__ import annotations

import pytest
from compiled import compiled_text, plan_in
from streamc.compiler.migrate.plan import plan_migration

SPEC = """\
---
pipeline: read
---
CREATE SOURCE e (k STRING NOT NULL, id STRING, v INT, u DECIMAL(10, 2), p STRUCT<m INT, n INT>,
  at TIMESTAMP,
  ts AS at + INTERVAL 1 SECOND,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) ON MALFORMED ROWS FAIL WITH (connector = 'files', path = 'in/e', format = 'json');
CREATE SOURCE f (id STRING NOT NULL, x INT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = 'in/f', format = 'json');
CREATE TABLE cards (id STRING, price INT)
WITH (connector = 'files', path = 'ref', format = 'json');
"""

SINK = "CREATE SINK o FROM top WITH (connector = 'memory');\n"

BLOCKS = {
    "plain": "SELECT k, window_start, SUM(v) AS s FROM TUMBLE(e, ts, INTERVAL 1 HOUR) "
    "WHERE v > 2 AND v + 1 < 9 AND p.m > 1 GROUP BY k, window_start",
    "text": "SELECT k, window_start, COUNT(*) AS n FROM TUMBLE(e, ts, INTERVAL 1 HOUR) "
    "WHERE CAST(v AS STRING) <> '3' GROUP BY k, window_start",
    "hash": "SELECT k, window_start, COUNT(*) AS n FROM TUMBLE(e, ts, INTERVAL 1 HOUR) "
    "WHERE HASH(v) > 3 GROUP BY k, window_start",
    "quotient": "SELECT k, window_start, COUNT(*) AS n FROM TUMBLE(e, ts, INTERVAL 1 HOUR) "
    "WHERE u / 3 > 1 GROUP BY k, window_start",
    "price": "SELECT k, window_start, COUNT(*) AS n FROM TUMBLE(e, ts, INTERVAL 1 HOUR) AS e "
    "JOIN cards AS c ON c.id = e.id WHERE CONCAT(c.price, 'x') <> '3x' GROUP BY k, window_start",
    "ids": "SELECT DISTINCT ON (k, id) k, id, v, ts FROM e WHERE u > 1",
}

EDITS = [
    ("plain", "v INT", "v BIGINT", None),
    ("text", "v INT", "v BIGINT", None),
    ("hash", "v INT", "v BIGINT", "`v` of `e` is BIGINT, and was INT"),
    ("text", "v INT", "v DOUBLE", "`v` of `e` is DOUBLE, and was INT"),
    ("text", "v INT", "v DECIMAL(12, 2)", "`v` of `e` is DECIMAL(12,2), and was INT"),
    ("plain", "u DECIMAL(10, 2)", "u DECIMAL(12, 2)", None),
    ("ids", "u DECIMAL(10, 2)", "u DECIMAL(12, 2)", None),
    ("ids", "u DECIMAL(10, 2)", "u DECIMAL(12, 1)", "`u` of `e` is DECIMAL(12,1), and was DECIMAL"),
    ("quotient", "u DECIMAL(10, 2)", "u DECIMAL(12, 2)", "`u` of `e` is DECIMAL(12,2)"),
    ("plain", "STRUCT<m INT, n INT>", "STRUCT<n INT, m INT>", None),
    ("price", "price INT", "price DOUBLE", "`price` of `cards` is DOUBLE, and was INT"),
    ("price", "price INT", "price BIGINT", None),
    ("plain", "id STRING,", "id STRING NOT NULL,", None),
    ("plain", "ROWS FAIL", "ROWS SKIP", None),
    ("plain", "format = 'json'", "format = 'json', timestamp_unit = 'millis'", "`timestamp_unit`"),
    (
        *("plain", "format = 'json'", "format = 'json', timestamp_format = 'yyyy-dd-MM'"),
        "`timestamp_format` of `e` is yyyy-dd-MM, and was not given",
    ),
    (
        *("plain", "format = 'json'", "format = 'json', timestamp_zone = 'Europe/Oslo'"),
        "`timestamp_zone` of `e` is Europe/Oslo, and was not given",
    ),
    (
        *("plain", "format = 'json'", "format = 'json', spark.timestampNTZFormat = 'yyyy-dd-MM'"),
        "`spark.timestampNTZFormat` of `e` is yyyy-dd-MM, and was not given",
    ),
    ("plain", "format = 'json'", "format = 'json', max_files_per_trigger = 3", None),
    ("ids", "at + INTERVAL 1 SECOND", "at + INTERVAL 1 MINUTE", "late by another watermark of `e`"),
]

SKIPPED = [
    ("v INT", "v BIGINT", "other rows of `e` are malformed by `v`"),
    ("id STRING,", "id STRING NOT NULL,", "other rows of `e` are malformed by `id`"),
    ("k STRING NOT NULL", "k STRING", "other rows of `e` are malformed by `k`"),
    ("at TIMESTAMP,\n", "at TIMESTAMP, more INT,\n", "other rows of `e` are malformed by `more`"),
    ("at TIMESTAMP,\n", "at TIMESTAMP, more STRING,\n", None),
]


def told(block: str, before: str, after: str, spec: str = SPEC) -> str:
    """What is reported of an edit at the operator, if something is marked."""
    text = f"{spec}CREATE STREAM top AS {BLOCKS[block]};\n{SINK}"
    assert before in text
    plans = [
        plan_in(compiled_text(one, "read.stream")) for one in (text, text.replace(before, after, 1))
    ]
    (outcome,) = plan_migration(*plans).operators
    return "; ".join(finding.why for finding in outcome.findings if finding.marked)


@pytest.mark.parametrize(("block", "before", "after", "said"), EDITS)
def test_what_is_read_otherwise_is_reported(
    block: str, before: str, after: str, said: str | None
) -> None:
    found = told(block, before, after)
    assert said in found if said is not None else found == ""


@pytest.mark.parametrize(("before", "after", "said"), SKIPPED)
def test_other_rows_are_malformed_where_these_are_left_out(
    before: str, after: str, said: str | None
) -> None:
    assert told("plain", before, after) == ""
    found = told("plain", before, after, SPEC.replace("ROWS FAIL", "ROWS SKIP"))
    assert said in found if said is not None else found == ""


JOINED = """\
CREATE STREAM top AS
  SELECT a.k, b.x, a.ts FROM e AS a {kind} JOIN f AS b
  ON a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL {minutes} MINUTES;
CREATE SINK o FROM top WITH (connector = 'memory');
"""


@pytest.mark.parametrize(
    ("kind", "marked"), [("", False), ("LEFT", True), ("RIGHT", True), ("FULL", True)]
)
def test_a_narrower_bound_is_marked_where_rows_without_a_partner_come_out(
    kind: str, marked: bool
) -> None:
    plans = [
        plan_in(compiled_text(SPEC + JOINED.format(kind=kind, minutes=minutes), "read.stream"))
        for minutes in (30, 10)
    ]
    (outcome,) = plan_migration(*plans).operators
    (bound,) = (finding for finding in outcome.findings if finding.part == "bound")
    assert bound.marked == marked
    assert bound.open is None


def test_another_function_over_a_top_is_asked_about() -> None:
    text = """\
CREATE FUNCTION points(x BIGINT) RETURNS BIGINT AS 'scoring:points';
CREATE STREAM sums AS SELECT k, window_time, SUM(v) AS v FROM TUMBLE(e, ts, INTERVAL 1 MINUTE)
  GROUP BY k, window_time;
CREATE STREAM scored AS SELECT k, window_time, points(v) AS v FROM sums;
CREATE STREAM top AS SELECT k, v, window_time FROM scored
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_time ORDER BY v DESC, k) <= 3;
CREATE SINK o FROM top WITH (connector = 'memory');
"""
    plans = [
        plan_in(compiled_text(SPEC + one, "read.stream"))
        for one in (text, text.replace("scoring:points", "scoring:others"))
    ]
    outcomes = {outcome.id: outcome for outcome in plan_migration(*plans).operators}
    assert [f.name for f in outcomes["top"].findings if f.open is not None] == ["function points"]
    assert all(f.open is None for f in outcomes["sums"].findings)


def test_another_default_is_marked() -> None:
    text = """\
CREATE OPERATOR top WITH (unbounded = 'a few') ON e PARTITION BY k ORDER BY ts
  STATE (n BIGINT DEFAULT 0) RETURNS (k STRING, n BIGINT)
AS
ON EVENT
  SET n = n + v;
  EMIT k, n;
END;
CREATE SINK o FROM top WITH (connector = 'memory');
"""
    plans = [
        plan_in(compiled_text(SPEC + one, "read.stream"))
        for one in (text, text.replace("DEFAULT 0", "DEFAULT 5"))
    ]
    (outcome,) = plan_migration(*plans).operators
    assert [f.name for f in outcome.findings if f.marked] == ["cell n"]
    assert plan_migration(*plans).exit_code == 0
