"""A change below an operator is asked about at the operator, unless it changes no row of its input.

Below each pipeline's last aggregate is one kind of operator. An edit replaces one text by another.
"""

from __future__ import annotations

import pytest
from compiled import compiled_text, plan_in
from streamc.compiler.migrate.findings.decisions import Decisions
from streamc.compiler.migrate.findings.verdicts import MigrationPlan
from streamc.compiler.migrate.plan import plan_migration
from streamc.contracts.plan import Plan

HEAD = """\
---
pipeline: below
---
CREATE SOURCE e (k STRING NOT NULL, id STRING NOT NULL, v BIGINT, ts TIMESTAMP,
  twice AS v * 2,
  origin STRING METADATA FROM 'path',
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'in/e', format = 'csv', delimiter = ',');
CREATE SOURCE f (k STRING NOT NULL, id STRING NOT NULL, w BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'in/f', format = 'json');
CREATE TABLE cards (id STRING, price BIGINT, dear AS price > 10)
WITH (connector = 'files', path = 'ref', format = 'json');
CREATE AGGREGATE average_of(x BIGINT) LIFT (s = x, n = 1) COMBINE (s = SUM, n = SUM) LOWER s / n;
CREATE FUNCTION half(x BIGINT) RETURNS DOUBLE RETURN x / 2;
"""
TAIL = """
CREATE STREAM top AS
  SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s
  FROM TUMBLE(mid, ts, INTERVAL 1 HOUR) GROUP BY k, window_start;
CREATE SINK out FROM top WITH (connector = 'memory');
"""
BELOW = {
    "filter": "CREATE STREAM mid AS SELECT k, v, ts FROM e WHERE v > 2 AND id <> 'x';",
    "aggregate": """\
CREATE STREAM sums AS
  SELECT k, id, window_start, window_time, SUM(v) AS v, average_of(v) AS m, COUNT(*) AS n
  FROM TUMBLE(e, ts, INTERVAL 1 MINUTE) WHERE v > 0 GROUP BY k, id, window_start HAVING n > 1;
CREATE STREAM mid AS SELECT k, v, window_time AS ts FROM sums;""",
    "join": """\
CREATE STREAM mid AS
  SELECT e.k, e.v, e.ts FROM e JOIN f
  ON e.id = f.id AND f.ts BETWEEN e.ts AND e.ts + INTERVAL 1 HOUR AND e.v > f.w;""",
    "dedup": """\
CREATE STREAM mid AS SELECT DISTINCT ON (k, id) WITHIN INTERVAL 1 DAY k, v, ts FROM e;""",
    "top": """\
CREATE STREAM mid AS
  SELECT k, id, SUM(v) AS v, window_time AS ts
  FROM TUMBLE(e, ts, INTERVAL 1 MINUTE) GROUP BY k, id, window_start
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY v DESC, id) <= 3;""",
    "operator": """\
CREATE OPERATOR mid ON e PARTITION BY k ORDER BY ts
  STATE (n BIGINT DEFAULT 0)
  TTL (n INTERVAL 1 DAY)
  RETURNS (k STRING, v BIGINT, ts TIMESTAMP)
AS
ON EVENT
  SET n = n + 1;
  IF n > 2 THEN EMIT k, v, ts; END IF;
END;""",
    "table": """\
CREATE STREAM mid AS
  SELECT e.k, e.v, e.ts FROM e JOIN cards AS c ON c.id = e.id WHERE c.dear;""",
    "unnest": """\
CREATE STREAM mid AS
  SELECT e.k, part.size AS v, e.ts
  FROM e
  CROSS JOIN UNNEST(TRANSFORM(SPLIT(id, '/'), x -> struct(LENGTH(x) AS size, 0 AS n))) AS part
  WHERE part.n < 5;""",
    "frame": """\
CREATE STREAM mid AS
  SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 HOUR PRECEDING) AS v, ts
  FROM e;""",
}

ASKED = [
    ("filter", "v > 2", "v > 3", "`3 < v` is asked of rows now"),
    ("aggregate", "v > 0", "v > 1", "`1 < v` is new, `0 < v` is gone in WHERE of `sums`"),
    ("aggregate", "n > 1;", "n > 2;", "`2 < count(*)` is asked"),
    ("aggregate", "SUM(v) AS v", "MAX(v) AS v", "max(v)"),
    ("aggregate", "k, id, window_start", "k, window_start", "keys"),
    ("aggregate", "INTERVAL 1 MINUTE) WHERE", "INTERVAL 2 MINUTES) WHERE", "time"),
    ("join", "e JOIN f", "e LEFT JOIN f", "left for inner"),
    ("join", "INTERVAL 1 HOUR AND e.v", "INTERVAL 30 MINUTES AND e.v", "bound"),
    ("join", "INTERVAL 1 HOUR AND e.v", "INTERVAL 2 HOURS AND e.v", "bound"),
    ("join", "e.v > f.w", "e.v >= f.w", "`right.w <= left.v` is new"),
    ("join", "e.id = f.id AND", "e.id = f.id AND e.k = f.k AND", "keys"),
    ("dedup", "ON (k, id)", "ON (id)", "keys"),
    ("dedup", "INTERVAL 1 DAY", "INTERVAL 2 DAYS", "INTERVAL 2 DAYS` is new"),
    ("top", "<= 3", "<= 4", "limit, 4 for 3"),
    ("top", "ORDER BY v DESC", "ORDER BY v ASC", "order"),
    ("top", "PARTITION BY window_start", "PARTITION BY k, window_start", "keys"),
    ("operator", "n > 2", "n > 3", "n > 3"),
    ("operator", "EMIT k, v, ts", "EMIT k, v + 1, ts", "v + 1"),
    ("operator", "DEFAULT 0", "DEFAULT 1", "`n` is another in the cells"),
    ("operator", "INTERVAL 1 DAY)", "INTERVAL 2 DAYS)", "`n` is another in the cells"),
    ("table", "price > 10", "price > 20", "`dear` of table `cards`"),
    ("table", "path = 'ref'", "path = 'other'", "cards"),
    (
        "unnest",
        "n))) AS part",
        "n))) AS part CROSS JOIN UNNEST(SPLIT(k, ',')) AS more",
        "split(k, ',')",
    ),
    ("unnest", "part.n < 5", "part.n < 6", "`unnest("),
    ("frame", "INTERVAL 1 HOUR PRECEDING", "INTERVAL 2 HOURS PRECEDING", "2 HOURS` is new"),
    ("frame", "SUM(v) OVER", "MAX(v) OVER", "the statements of `mid`"),
]


def plan_of(text: str) -> Plan:
    return plan_in(compiled_text(text, "below.stream"))


def told(kind: str, before: str, after: str) -> tuple[MigrationPlan, list[str]]:
    """The plan of an edit, and its verdicts on the rows that reach the last aggregate."""
    old = HEAD + BELOW[kind] + TAIL
    assert before in old
    plan = plan_migration(plan_of(old), plan_of(old.replace(before, after)))
    (outcome,) = (one for one in plan.operators if one.id == "top")
    return plan, [f.why for f in outcome.findings if f.marked and f.open is not None]


@pytest.mark.parametrize(("kind", "before", "after", "said"), ASKED)
def test_other_rows_are_asked_about(kind: str, before: str, after: str, said: str) -> None:
    plan, why = told(kind, before, after)
    assert len(why) == 1
    assert said in why[0]
    assert plan.exit_code in (1, 2)


@pytest.mark.parametrize(("before", "after"), [("'/'", "'-'"), ("0 AS n", "v AS n")])
def test_other_elements_are_other_rows_and_other_values(before: str, after: str) -> None:
    _, (rows, values) = told("unnest", before, after)
    assert "`CROSS JOIN UNNEST(" in rows and "sum(unnest(" in values


@pytest.mark.parametrize("kind", BELOW)
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "INTERVAL 1 MINUTE)\nWITH",
            "INTERVAL 1 MINUTE)\nON FUTURE ROWS BEYOND INTERVAL 1 DAY SKIP\nWITH",
            "future",
        ),
        ("pipeline: below\n", "pipeline: below\nspark: {spark.sql.ansi.enabled: false}\n", "ansi"),
        ("STRING METADATA FROM 'path'", "TIMESTAMP METADATA FROM 'modified_at'", "`modified_at`"),
        (
            "pipeline: below\n",
            "pipeline: below\nspark: {spark.sql.caseSensitive: true}\n",
            "caseSensitive",
        ),
    ],
)
def test_what_holds_for_all_rows_is_asked_about(
    kind: str, before: str, after: str, said: str
) -> None:
    _, why = told(kind, before, after)
    assert len(why) == 1
    assert said in why[0]


@pytest.mark.parametrize("kind", BELOW)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("CREATE STREAM top", "-- a comment\nCREATE STREAM top"),
        ("INTERVAL 1 MINUTE)\nWITH", "INTERVAL 1 MINUTE)\nON MALFORMED ROWS SKIP\nWITH"),
        ("delimiter = ','", "delimiter = ';'"),
        ("format = 'csv', delimiter = ','", "format = 'json'"),
        ("LOWER s / n", "LOWER n / s"),
        ("pipeline: below\n", "pipeline: below\nspark: {spark.sql.shuffle.partitions: 7}\n"),
        ("FROM TUMBLE(mid,", "FROM TUMBLE(amid,"),
        ("SUM(v) AS s", "SUM(v) AS total"),
        ("COUNT(*) AS n,", ""),
    ],
)
def test_the_same_rows_are_not_asked_about(kind: str, before: str, after: str) -> None:
    if "amid" in after:
        between = "\nCREATE STREAM amid AS SELECT * FROM mid;"
        before, after = TAIL, between + TAIL.replace(before, after)
    plan, why = told(kind, before, after)
    assert why == []
    assert plan.exit_code == 0


@pytest.mark.parametrize("word", ["drop", "empty"])
def test_an_operator_that_starts_from_scratch_gives_other_rows(word: str) -> None:
    """Where the file makes it start empty, and where it is of another kind."""
    old, new = (HEAD + BELOW[kind] + TAIL for kind in ("dedup", "top"))
    for versions in ((old, old), (old, new)):
        decided = Decisions({("operators", "mid"): word})
        plan = plan_migration(*map(plan_of, versions), decided)
        (outcome,) = (one for one in plan.operators if one.id == "top")
        (told,) = (finding.why for finding in outcome.findings if finding.part == "input")
        assert "`mid` begins at the cut" in told
        assert plan.exit_code > 0


PROFILES = "pipeline: below\nprofiles:\n  prod: {spark: {spark.sql.ansi.enabled: true}}\n"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "ansi.enabled: true",
            "ansi.enabled: false",
            "`spark.sql.ansi.enabled` is false, and was true in profile `prod`",
        ),
        (PROFILES, "pipeline: below\n", "is as Spark has it, and was true in profile `prod`"),
        (
            "ON MALFORMED ROWS SKIP\nWITH (",
            "ON MALFORMED ROWS SKIP\nWITH (lenient = true, ",
            "lenient",
        ),
    ],
)
def test_what_a_profile_or_a_policy_makes_of_a_change(before: str, after: str, said: str) -> None:
    """Rows that an option admits were not rows before, unless they fail the query."""
    old = (HEAD + BELOW["filter"] + TAIL).replace("pipeline: below\n", PROFILES)
    old = old.replace(
        "INTERVAL 1 MINUTE)\nWITH", "INTERVAL 1 MINUTE)\nON MALFORMED ROWS SKIP\nWITH", 1
    )
    assert before in old
    plan = plan_migration(plan_of(old), plan_of(old.replace(before, after, 1)))
    (outcome,) = (one for one in plan.operators if one.id == "top")
    (why,) = (finding.why for finding in outcome.findings if finding.open is not None)
    assert said in why


def test_a_setting_is_reported_once_whatever_profiles_there_are() -> None:
    old = (HEAD + BELOW["filter"] + TAIL).replace("pipeline: below\n", PROFILES)
    new = old.replace("profiles:", "spark: {spark.sql.caseSensitive: true}\nprofiles:")
    (outcome,) = (
        one for one in plan_migration(plan_of(old), plan_of(new)).operators if one.id == "top"
    )
    (why,) = (finding.why for finding in outcome.findings if finding.open is not None)
    assert why.count("caseSensitive") == 1


@pytest.mark.parametrize(
    ("option", "asked"),
    [
        ("spark.kafka.isolation.level = 'read_committed'", True),
        ("spark.kafka.fetch.max.bytes = 1000", False),
        ("spark.kafkaConsumer.pollTimeoutMs = 1000", False),
        ("spark.groupIdPrefix = 'p'", False),
        ("max_offsets_per_trigger = 1000", False),
        ("starting_offsets = 'latest'", False),
    ],
)
def test_options_of_a_topic_by_which_other_messages_are_there(option: str, asked: bool) -> None:
    topic = "connector = 'kafka', bootstrap_servers = 'b', topic = 't', format = 'json'"
    files = "connector = 'files', path = 'in/e', format = 'csv', delimiter = ','"
    old = (HEAD + BELOW["filter"] + TAIL).replace(files, topic).replace("'path'", "'topic'")
    plan = plan_migration(plan_of(old), plan_of(old.replace(topic, f"{topic}, {option}")))
    assert plan.exit_code == int(asked)


def test_what_a_source_that_is_read_again_has_given_is_marked() -> None:
    text = HEAD + BELOW["filter"] + TAIL
    decided = Decisions({("sources", "e", "start"): "earliest"})
    plan = plan_migration(plan_of(text), plan_of(text), decided)
    (outcome,) = (one for one in plan.operators if one.id == "top")
    assert [f.why for f in outcome.findings if f.marked] == [
        "rows of `e` that are in it come again"
    ]
    assert plan.exit_code == 0
