"""Pipelines of several operators over each other, edits anywhere in them, and rows for them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

HEAD = """\
---
pipeline: chained
version: {version}
---
CREATE SOURCE e (k STRING NOT NULL, id STRING NOT NULL, v BIGINT, u BIGINT, ts TIMESTAMP,
  w AS u + 1,
  WATERMARK FOR ts AS ts - INTERVAL 60 SECONDS
) WITH (connector = 'files', path = 'in/e', format = 'json');
CREATE SOURCE f (id STRING NOT NULL, x BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 60 SECONDS
) WITH (connector = 'files', path = 'in/f', format = 'json');
CREATE TABLE cards (id STRING, price BIGINT, dear AS price > 5)
WITH (connector = 'files', path = 'ref', format = 'json');
CREATE FUNCTION more(x BIGINT) RETURNS BIGINT RETURN x + 3;
CREATE STREAM s0 AS SELECT k, id, v, w, ts FROM e WHERE v > 1 AND u < 9;
"""

LAYERS: Mapping[str, str] = {
    "filter": "CREATE STREAM {o} AS SELECT k, id, v, w, ts FROM {i} WHERE v <> 4 AND w > 2;\n",
    "project": "CREATE STREAM {o} AS SELECT k, id, more(v) AS v, v * w AS w, ts FROM {i};\n",
    "lookup": """\
CREATE STREAM {o} AS
  SELECT a.k, a.id, a.v + c.price AS v, a.w, a.ts FROM {i} AS a JOIN cards AS c ON c.id = a.id
  WHERE c.dear;
""",
    "aggregate": """\
CREATE STREAM {o}_sums AS
  SELECT k, id, window_start, window_time, SUM(v) AS v, MAX(w) AS w, COUNT(*) AS n
  FROM TUMBLE({i}, ts, INTERVAL 60 SECONDS) WHERE v < 50 GROUP BY k, id, window_start
  HAVING n > 0;
CREATE STREAM {o} AS SELECT k, id, v, w, window_time AS ts FROM {o}_sums;
""",
    "top": """\
CREATE STREAM {o}_best AS
  SELECT k, id, window_start, window_time, SUM(v) AS v, MIN(w) AS w
  FROM TUMBLE({i}, ts, INTERVAL 60 SECONDS) GROUP BY k, id, window_start
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY v DESC, id ASC) <= 2;
CREATE STREAM {o} AS SELECT k, id, v, w, window_time AS ts FROM {o}_best;
""",
    "join": """\
CREATE STREAM {o} AS
  SELECT a.k, a.id, a.v + b.x AS v, a.w, a.ts FROM {i} AS a JOIN f AS b
  ON a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 120 SECONDS AND b.x > 2;
""",
    "dedup": """\
CREATE STREAM {o} AS
  SELECT DISTINCT ON (k, id) WITHIN INTERVAL 300 SECONDS k, id, v, w, ts FROM {i};
""",
    "operator": """\
CREATE OPERATOR {o} WITH (unbounded = 'a few') ON {i} PARTITION BY k ORDER BY ts
  STATE (n BIGINT DEFAULT 0, seen SET<STRING>)
  RETURNS (k STRING, id STRING, v BIGINT, w BIGINT, ts TIMESTAMP)
AS
ON EVENT
  SET n = n + v;
  ADD id TO seen;
  IF n > 5 THEN
    EMIT k, id, n, w + SIZE(seen), ts;
  END IF;
END;
""",
    "frame": """\
CREATE STREAM {o} AS
  SELECT k, id, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 90 SECONDS PRECEDING) AS v,
    w, ts FROM {i} WHERE w > 1;
""",
}

TAILS: Mapping[str, str] = {
    "window": """\
CREATE STREAM top AS
  SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s, MAX(w) AS m
  FROM TUMBLE({i}, ts, INTERVAL 300 SECONDS) GROUP BY k, window_start;
CREATE SINK out FROM top WITH (connector = 'memory');
""",
    "session": """\
CREATE STREAM top AS
  SELECT k, window_start, window_end, SUM(v) AS s, MIN(w) AS m
  FROM SESSION({i} PARTITION BY k, ts, INTERVAL 90 SECONDS) GROUP BY k, window_start, window_end;
CREATE SINK out FROM top WITH (connector = 'memory');
""",
    "counted": """\
CREATE STREAM top WITH (unbounded = 'a few') AS
  SELECT k, window_start, SUM(v) AS s, MAX(w) AS m
  FROM COUNT_WINDOW({i} PARTITION BY k, 3) GROUP BY k, window_start;
CREATE SINK out FROM top WITH (connector = 'memory');
""",
    "plain": "CREATE SINK out FROM {i} WITH (connector = 'memory');\n",
}

EDITS: Sequence[tuple[str, Sequence[str]]] = (
    (r"(?<![\w.])\d+(?![\w.])", ("{next}", "{less}")),
    (r"SUM\(", ("MAX(", "MIN(")),
    (r"MAX\(", ("SUM(", "MIN(")),
    (r"MIN\(", ("MAX(",)),
    (r"COUNT\(\*\)", ("COUNT(v)",)),
    (r" > ", (" >= ", " < ")),
    (r" < ", (" <= ",)),
    (r" <> ", (" = ",)),
    (r" \+ ", (" - ", " * ")),
    (r" (?:INNER )?JOIN (?=[fc])", (" LEFT JOIN ",)),
    (r" AND (?=[uwb.]+ [<>])[^;\n]*", ("",)),
    (r"WHERE [^\n;]*", ("",)),
    (r"DESC", ("ASC",)),
    (r"ON \(k, id\)", ("ON (k)", "ON (id)", "ON (id, k)")),
    (r"PARTITION BY k\b", ("PARTITION BY id",)),
    (r"GROUP BY k, id, window_start", ("GROUP BY id, k, window_start",)),
    (r"\bv\b(?! BIGINT)(?! AS)", ("w",)),
    (r"\bSIZE\(seen\)", ("0",)),
    (r"ADD id TO seen", ("ADD k TO seen",)),
    (
        r"\) WITH \(connector = 'files', path = 'in/e'",
        (
            ") ON MALFORMED ROWS SKIP WITH (connector = 'files', path = 'in/e'",
            ") ON FUTURE ROWS BEYOND INTERVAL 1 DAY SKIP WITH (connector = 'files', path = 'in/e'",
        ),
    ),
    (r"version: 2\n", ("version: 2\nspark: {spark.sql.ansi.enabled: false}\n",)),
    (r"\n(?=CREATE STREAM top)", ("\n-- a comment\n",)),
    (r" AS s,", (" AS total,",)),
)
"""What is found in a spec, anywhere, and what may stand in its place."""


def pipeline(draw: random.Random) -> str:
    """A chain of two to four operators; the compiler may refuse it."""
    text, below = HEAD, "s0"
    for number in range(1, draw.randint(1, 3) + 1):
        layer = LAYERS[draw.choice([*LAYERS])]
        text += layer.replace("{i}", below).replace("{o}", f"s{number}")
        below = f"s{number}"
    return text + TAILS[draw.choice([*TAILS])].replace("{i}", below)


def edited(text: str, draw: random.Random) -> str:
    """The second version of a spec, with one to three edits at random places."""
    text = text.replace("{version}", "2")
    for _ in range(draw.choice([1, 1, 2, 3])):
        pattern, instead = draw.choice(EDITS)
        places = [found for found in re.finditer(pattern, text) if found.start() > 30]
        if not places:
            continue
        place, new = draw.choice(places), draw.choice(list(instead))
        if place[0].isdigit():
            number = int(place[0])
            step = 60 if number >= 60 else 1
            new = str(number + step if new == "{next}" else max(number - step, 1))
        text = text[: place.start()] + new + text[place.end() :]
    return text


def batches(draw: random.Random) -> list[dict[str, str]]:
    """What arrives step by step, a text for each source: instants go ahead, some rows are late."""
    start, second = datetime(2026, 1, 1, tzinfo=UTC), 0
    found = []
    for _ in range(draw.randint(3, 4)):
        rows: dict[str, list[str]] = {"e": [], "f": []}
        for _ in range(draw.randint(4, 9)):
            second += draw.randint(1, 40)
            at = (start + timedelta(seconds=second - draw.choice([0, 0, 20, 90]))).isoformat()
            held = {
                "k": draw.choice("ab"),
                "id": draw.choice("xyz"),
                "v": draw.choice([None, *range(1, 10)]),
                "u": draw.randint(0, 9),
                "ts": at,
            }
            rows["e"].append(json.dumps(held))
            if draw.random() < 0.6:
                other = {"id": draw.choice("xyz"), "x": draw.randint(0, 9), "ts": at}
                rows["f"].append(json.dumps(other))
        found.append({name: "".join(f"{row}\n" for row in rows[name]) for name in rows})
    return found


CARDS = "".join(
    json.dumps({"id": id_, "price": price}) + "\n" for id_, price in (("x", 4), ("y", 6), ("z", 9))
)
