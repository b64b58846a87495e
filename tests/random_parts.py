"""What pipelines at random are made of: sources, operators of all kinds, and what ends a chain.

Each layer reads rows of `k, id, v, w, ts` from `{i}` and gives such rows as `{o}`.
"""

from __future__ import annotations

from collections.abc import Mapping

HEAD = """\
---
pipeline: chained
version: {version}
---
CREATE SOURCE e (k STRING NOT NULL, id STRING NOT NULL, v BIGINT, u BIGINT, at TIMESTAMP,
  w AS u + 1,
  ts AS at + INTERVAL 1 SECOND,
  WATERMARK FOR ts AS ts - INTERVAL 60 SECONDS
) ON MALFORMED ROWS {malformed} WITH (connector = 'files', path = 'in/e', format = 'json');
CREATE STREAM s0 AS SELECT k, id, v, w, ts FROM e WHERE v > 1 AND u < 9;
"""

USED: Mapping[str, str] = {
    "f": """\
CREATE SOURCE f (id STRING NOT NULL, x BIGINT, p STRUCT<m BIGINT, n BIGINT>, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 60 SECONDS
) WITH (connector = 'files', path = 'in/f', format = 'json');
""",
    "cards": """\
CREATE TABLE cards (id STRING, price BIGINT, dear AS price > 5)
WITH (connector = 'files', path = 'ref', format = 'json');
""",
    "more": """\
CREATE FUNCTION more(x BIGINT) RETURNS BIGINT RETURN x + 3;
""",
    "points": """\
CREATE FUNCTION points(x BIGINT) RETURNS BIGINT AS 'scoring:points';
""",
    "spread": """\
CREATE AGGREGATE spread(x BIGINT) LIFT (a = x, b = x + 1) COMBINE (a = MIN, b = MAX) LOWER b - a;
""",
}
"""The sources and tables that layers and tails use, declared only if used."""

LAYERS: Mapping[str, str] = {
    "filter": "CREATE STREAM {o} AS SELECT k, id, v, w, ts FROM {i} WHERE v <> 4 AND w > 2;\n",
    "project": "CREATE STREAM {o} AS SELECT k, id, more(v) AS v, v * w AS w, ts FROM {i};\n",
    "texts": """\
CREATE STREAM {o} AS
  SELECT k, CONCAT(id, CAST(v AS STRING)) AS id, v, w, ts FROM {i}
  WHERE CAST(w AS STRING) <> '3';
""",
    "sizes": """\
CREATE STREAM {o} AS
  SELECT k, id, v + SIZE(IF(w > 4, ARRAY(v), NULL)) AS v, w, ts FROM {i};
""",
    "python": "CREATE STREAM {o} AS SELECT k, id, points(v) AS v, w, ts FROM {i};\n",
    "lookup": """\
CREATE STREAM {o} AS
  SELECT a.k, a.id, a.v + c.price AS v, a.w, a.ts FROM {i} AS a JOIN cards AS c ON c.id = a.id
  WHERE c.dear;
""",
    "prices": """\
CREATE STREAM {o} AS
  SELECT a.k, CONCAT(a.id, '-', c.price) AS id, a.v, a.w, a.ts
  FROM {i} AS a LEFT JOIN cards AS c ON c.id = a.id AND c.price > 4;
""",
    "union": """\
CREATE STREAM {o} AS
  SELECT k, id, v, w, ts FROM {i} WHERE w < 8
  UNION ALL
  SELECT id AS k, id, x AS v, x + 2 AS w, ts FROM f WHERE x > 3;
""",
    "windows": """\
CREATE STREAM {o} AS
  SELECT k, id, v, w, ts FROM HOP({i}, ts, INTERVAL 60 SECONDS, INTERVAL 120 SECONDS);
""",
    "aggregate": """\
CREATE STREAM {o}_sums AS
  SELECT k, id, window_start, window_time, SUM(v) AS v, MAX(w) AS w, COUNT(*) AS n
  FROM TUMBLE({i}, ts, INTERVAL 60 SECONDS) WHERE v < 50 GROUP BY k, id, window_start
  HAVING n > 0;
CREATE STREAM {o} AS SELECT k, id, v, w, window_time AS ts FROM {o}_sums;
""",
    "hop": """\
CREATE STREAM {o} AS
  SELECT k, MAX_BY(id, v) AS id, COUNT(DISTINCT v) AS v, spread(w) AS w, window_time AS ts
  FROM HOP({i}, ts, INTERVAL 60 SECONDS, INTERVAL 120 SECONDS)
  GROUP BY k, window_start, window_time;
""",
    "sessions": """\
CREATE STREAM {o} AS
  SELECT k, MAX(id) AS id, MIN(v) AS v, SUM(w) FILTER (WHERE v > 2) AS w, window_time AS ts
  FROM SESSION({i} PARTITION BY k, ts, INTERVAL 90 SECONDS) GROUP BY k, window_time;
""",
    "top": """\
CREATE STREAM {o}_best AS
  SELECT k, id, window_start, window_time, SUM(v) AS v, MIN(w) AS w
  FROM TUMBLE({i}, ts, INTERVAL 60 SECONDS) GROUP BY k, id, window_start
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY v DESC, id ASC, k ASC) <= 2;
CREATE STREAM {o} AS SELECT k, id, v, w, window_time AS ts FROM {o}_best;
""",
    "top_of_python": """\
CREATE STREAM {o}_sums AS
  SELECT k, id, window_start, window_time, SUM(v) AS v, MIN(w) AS w
  FROM TUMBLE({i}, ts, INTERVAL 60 SECONDS) GROUP BY k, id, window_start, window_time;
CREATE STREAM {o}_points AS
  SELECT k, id, window_start, window_time, points(v) AS v, w FROM {o}_sums;
CREATE STREAM {o} AS
  SELECT k, id, v, w, window_time AS ts FROM {o}_points
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_time ORDER BY v DESC, id ASC, k ASC) <= 3;
""",
    "join": """\
CREATE STREAM {o} AS
  SELECT a.k, a.id, a.v + b.x AS v, a.w, a.ts FROM {i} AS a JOIN f AS b
  ON a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 120 SECONDS AND b.x > 2;
""",
    "join_of_structs": """\
CREATE STREAM {o} AS
  SELECT a.k, a.id, COALESCE(b.p.m, 0) AS v, a.w + COALESCE(b.p.n, 2) AS w, a.ts
  FROM f AS b RIGHT JOIN {i} AS a
  ON a.id = b.id AND a.ts BETWEEN b.ts - INTERVAL 60 SECONDS AND b.ts + INTERVAL 90 SECONDS;
""",
    "join_of_windows": """\
CREATE STREAM {o} AS
  SELECT a.k, COALESCE(b.id, 'x') AS id, a.v, a.w + b.x AS w, a.window_time AS ts
  FROM TUMBLE({i}, ts, INTERVAL 60 SECONDS) AS a
  LEFT JOIN TUMBLE(f, ts, INTERVAL 60 SECONDS) AS b
  ON a.id = b.id AND a.window_start = b.window_start AND a.v > b.x;
""",
    "versions": """\
CREATE STREAM {o} AS
  SELECT a.k, a.id, a.v + COALESCE(b.x, 1) AS v, a.w, a.ts
  FROM {i} AS a LEFT JOIN f FOR SYSTEM_TIME AS OF a.ts AS b
  ON b.id = a.id AND b.ts >= a.ts - INTERVAL 180 SECONDS WHERE a.w > 1;
""",
    "dedup": """\
CREATE STREAM {o} AS
  SELECT DISTINCT ON (k, id) WITHIN INTERVAL 300 SECONDS k, id, v, w, ts FROM {i};
""",
    "ids": "CREATE STREAM {o} AS SELECT DISTINCT ON (k, v) k, id, v, w, ts FROM {i} WHERE w > 1;\n",
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
    "timers": """\
CREATE OPERATOR {o} WITH (unbounded = 'a few')
  ON {i} AS a PARTITION BY id ORDER BY ts, f AS b PARTITION BY id ORDER BY ts
  STATE (last BIGINT, best MAP<STRING, BIGINT>, p STRUCT<m BIGINT, n BIGINT>)
  TIMERS (due EVENT TIME)
  RETURNS (k STRING, id STRING, v BIGINT, w BIGINT, ts TIMESTAMP)
AS
ON EVENT a
  SET last = v;
  PUT best[k] = GREATEST(w, best[k]);
  START TIMER due AT ts + INTERVAL 90 SECONDS;
ON EVENT b
  SET p = b.p;
ON TIMER due
  EMIT 'a', id, last + COALESCE(p.m, 0), best['a'], due;
END;
""",
    "frame": """\
CREATE STREAM {o} AS
  SELECT k, id, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 90 SECONDS PRECEDING) AS v,
    w, ts FROM {i} WHERE w > 1;
""",
    "rows_before": """\
CREATE STREAM {o} WITH (unbounded = 'a few') AS
  SELECT k, id, v - COALESCE(LAG(v, 1) OVER one, 0) AS v,
    MAX(w) OVER (one ROWS 2 PRECEDING) AS w, ts
  FROM {i} WINDOW one AS (PARTITION BY k ORDER BY ts) QUALIFY ROW_NUMBER() OVER one > 1;
""",
    "counted": """\
CREATE STREAM {o} WITH (unbounded = 'a few') AS
  SELECT k, LAST_VALUE(id) AS id, SUM(v) AS v, MAX(w) AS w, window_time AS ts
  FROM COUNT_WINDOW({i} PARTITION BY k, 2) GROUP BY k, window_time;
""",
}

_OUT = "CREATE SINK out FROM top WITH (connector = 'memory');\n"

TAILS: Mapping[str, str] = {
    "window": """\
CREATE STREAM top AS
  SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s, MAX(w) AS m
  FROM TUMBLE({i}, ts, INTERVAL 300 SECONDS) GROUP BY k, window_start;
"""
    + _OUT,
    "kinds": """\
CREATE STREAM top AS
  SELECT window_start, COUNT(v) AS n, SUM(v) AS s, MIN(w) AS m, BOOL_OR(v > 4) AS b,
    MIN_BY(v, w) AS y, SUM(w) FILTER (WHERE v > 3) AS g, spread(v) AS r
  FROM TUMBLE({i}, ts, INTERVAL 180 SECONDS) GROUP BY k, id, window_start;
"""
    + _OUT,
    "hop": """\
CREATE STREAM top AS
  SELECT id, window_end, SUM(v) AS s, LAST_VALUE(w) AS m
  FROM HOP({i}, ts, INTERVAL 60 SECONDS, INTERVAL 240 SECONDS) GROUP BY id, window_end;
"""
    + _OUT,
    "cumulate": """\
CREATE STREAM top AS
  SELECT k, window_end, SUM(v + w) AS s, COUNT_IF(v > 3) AS m
  FROM CUMULATE({i}, ts, INTERVAL 60 SECONDS, INTERVAL 240 SECONDS) GROUP BY k, window_end;
"""
    + _OUT,
    "session": """\
CREATE STREAM top AS
  SELECT k, window_start, window_end, SUM(v) AS s, MIN(w) AS m
  FROM SESSION({i} PARTITION BY k, ts, INTERVAL 90 SECONDS) GROUP BY k, window_start, window_end;
"""
    + _OUT,
    "changes": """\
CREATE STREAM top AS
  SELECT k, window_start, SUM(v) AS s, MAX(w) AS m
  FROM TUMBLE({i}, ts, INTERVAL 300 SECONDS) GROUP BY k, window_start EMIT CHANGES;
"""
    + _OUT,
    "totals": """\
CREATE STREAM top WITH (unbounded = 'a few') AS
  SELECT k, SUM(v) AS s, MAX(w) AS m, COUNT(v) AS n FROM {i} GROUP BY k EMIT CHANGES;
"""
    + _OUT,
    "panes": """\
CREATE STREAM top AS
  SELECT k, window_start, SUM(v) AS s, MAX(w) AS m, pane
  FROM TUMBLE({i}, ts, INTERVAL 120 SECONDS) GROUP BY k, window_start
  HAVING COUNT(*) > 1 ALLOWED LATENESS INTERVAL 180 SECONDS;
"""
    + _OUT,
    "counted": """\
CREATE STREAM top WITH (unbounded = 'a few') AS
  SELECT k, window_start, SUM(v) AS s, MAX(w) AS m
  FROM COUNT_WINDOW({i} PARTITION BY k, 3) GROUP BY k, window_start;
"""
    + _OUT,
    "match": """\
CREATE STREAM top AS
  SELECT k, s, m FROM {i} MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY ts
    MEASURES SUM(v) AS s, MAX(w) AS m
    PATTERN (LOW HIGH{1,} TURN?) WITHIN INTERVAL 300 SECONDS
    DEFINE LOW AS v > 1, HIGH AS v > PREV(v), TURN AS w < LOW.w
  );
"""
    + _OUT,
    "plain": "CREATE SINK out FROM {i} WITH (connector = 'memory');\n",
}
