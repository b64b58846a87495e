"""Names that need backticks, and specs that use each of them wherever a name can be.

The names stand side by side, so that one job tries them all. The column of the name number `n`
holds `100 * row + n`: right rows are worked out here by plain arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]

NAMES = (
    "my col",
    " x ",
    "a.b",
    "..",
    "a`b",
    "it's",
    'say "x"',
    '"""',
    "select",
    "order",
    "null",
    "größe",
    "gro\u0308ße",
    "列",
    "\U0001f600",
    "a\u00a0b",
    "100%",
    "{x}",
    "${x}",
    "a\\b",
    "a\\nb",
    "a,b",
    "f(a)",
    "a[0]",
    "a:b",
    "a/b",
    "<x>",
    "a;b",
    "#",
    "*",
    "?",
    "a--b",
    "1st",
    "123",
    "1e5",
    "0x1F",
    "x" * 200,
    "列" * 60,
    "_x0020",
    "my_x0020col",
    "__x",
    "rows__",
    "key",
    "value",
    "number",
    "written",
    "position",
    "row",
    "peer",
    "current_date",
    "current_timestamp",
    "job",
    "F",
)
FEW = (
    "my col",
    "a.b",
    "a`b",
    "it's",
    'say "x"',
    "select",
    "gro\u0308ße",
    "\U0001f600",
    "${x}",
    "1st",
    "_x0020",
    "current_date",
    "x" * 200,
    "列" * 60,
)
"""The ones with which a job is run."""

TIMES = ("at time", "event.time", "größe", "1st", "a`b", "\U0001f600", "select")
"""Names of event times."""

_FILES = "WITH (connector = 'files', path = 'in/{0}', format = 'json');\n"
_HOUR = "INTERVAL 1 HOUR"
_START = "2026-01-01T10:00:00Z"


def ticked(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def spec(names: Sequence[str]) -> str:
    """Streams in which all names are used wherever a column, field or alias can be."""

    def each(form: str, between: str = ", ") -> str:
        return between.join(form.replace("{n}", ticked(name)) for name in names)

    fields, columns, first = each("{n} INT"), each("{n}"), ticked(names[0])
    # The texts of options have variables, `${x}`, and escapes as all texts do.
    keys = ", ".join(ticked(name) for name in names if "${" not in name)
    in_text = keys.replace("\\", "\\\\").replace("'", "''")
    streams = {
        "plain": f"SELECT k AS k1, {each('{n} + 1 AS {n}')} FROM e WHERE e.{first} > 0",
        "fields": f"SELECT k AS k1, {each('obj.{n}')} FROM e",
        "deep": f"SELECT k AS k1, {each('arr[0].{n} + e.m[k].{n} AS {n}')} FROM e",
        "whole": "SELECT k AS k1, obj, arr, m FROM e",
        "made": f"SELECT k AS k1, STRUCT({each('{n} AS {n}')}) AS obj FROM e",
        "keyed": f"SELECT {columns}, obj, window_start AS w, COUNT(*) AS `n of` "
        f"FROM TUMBLE(e, ts, {_HOUR}) GROUP BY {columns}, obj, window_start",
        "sums": f"SELECT k AS k1, window_start AS w, {each('SUM({n}) AS {n}')}, MAX(obj) AS obj "
        f"FROM TUMBLE(e, ts, {_HOUR}) GROUP BY k, window_start",
        "visits": f"SELECT {first}, window_start AS w, COUNT(*) AS `n of` "
        f"FROM SESSION(e PARTITION BY {first}, ts, {_HOUR}) GROUP BY {first}, window_start",
        "rolling": f"SELECT k AS k1, {each('SUM({n}) OVER w AS {n}')}, "
        "LAST_VALUE(obj) OVER w AS obj "
        f"FROM e WINDOW w AS (PARTITION BY k ORDER BY ts RANGE {_HOUR} PRECEDING)",
        "alone": f"SELECT {columns}, obj, COUNT(*) OVER (PARTITION BY {columns}, obj "
        f"ORDER BY ts RANGE {_HOUR} PRECEDING) AS `n of` FROM e",
        "matched": f"SELECT k AS k1, {columns}, obj FROM e MATCH_RECOGNIZE ("
        f"PARTITION BY k ORDER BY ts MEASURES {each('LAST(`to b`.{n}) - FIRST({n}) AS {n}')}, "
        f"FIRST(obj) AS obj PATTERN (A `to b`) WITHIN {_HOUR} "
        f"DEFINE `to b` AS {first} > PREV({first}))",
        "once": f"SELECT DISTINCT ON ({columns}) {columns}, ts AS t FROM e",
        "daily": f"SELECT DISTINCT ON ({columns}) WITHIN INTERVAL 1 DAY {columns}, ts AS t FROM e",
        "pairs": f"SELECT a.k AS k1, {each('b.{n}')} FROM e AS a JOIN f AS b "
        f"ON {each('a.{n} = b.{n}', ' AND ')} AND b.ts BETWEEN a.ts AND a.ts + {_HOUR}",
        "versions": f"SELECT a.k AS k1, a.ts AS t, {each('b.{n}')}, b.obj FROM e AS a "
        f"LEFT JOIN f FOR SYSTEM_TIME AS OF a.ts AS b ON {each('b.{n} = a.{n}', ' AND ')} "
        "AND b.ts >= a.ts - INTERVAL 1 DAY",
        "panes": f"SELECT {keys}, window_start AS w, COUNT(*) AS `n of` "
        f"FROM TUMBLE(e, ts, {_HOUR}) GROUP BY {keys}, window_start "
        "EMIT EARLY EVERY INTERVAL 10 MINUTES",
    }
    text = ""
    for source in ("e", "f"):
        text += (
            f"CREATE SOURCE {source} (k STRING NOT NULL, {fields}, obj STRUCT<{fields}>, "
            f"arr ARRAY<STRUCT<{fields}>>, m MAP<STRING, STRUCT<{fields}>>, ts TIMESTAMP, "
            "WATERMARK FOR ts AS ts - INTERVAL 0 SECONDS) " + _FILES.format(source)
        )
    text += f"""\
CREATE OPERATOR kept WITH (unbounded = 'two keys') ON e AS o
  PARTITION BY {columns}, obj ORDER BY ts
  STATE (latest STRUCT<{fields}>, by_key MAP<STRING, STRUCT<{fields}>>,
    all_of LIST<STRUCT<{fields}>>, known SET<STRUCT<{fields}>>)
  TIMERS (due EVENT TIME)
  RETURNS ({fields}, obj STRUCT<{fields}>, n BIGINT)
AS
ON EVENT o
  DECLARE `a local` STRUCT<{fields}> = o.obj;
  SET latest = `a local`;
  PUT by_key[k] = o.obj;
  APPEND o.obj TO all_of;
  ADD o.obj TO known;
  START TIMER due AT ts + INTERVAL 1 SECOND;
ON TIMER due
  EMIT {each('latest.{n} + by_key["a"].{n}')}, all_of[0], SIZE(known);
END;
"""
    for name, query in streams.items():
        text += f"CREATE STREAM {name} AS {query};\n"
    for name in (*streams, "kept"):
        mode = f", mode = 'upsert', key = '{in_text}, w'" if name == "panes" else ""
        text += f"CREATE SINK {name}_out FROM {name} WITH (connector = 'memory'{mode});\n"
    return text


def _value(names: Sequence[str], row: int, name: str) -> int:
    return 100 * row + names.index(name)


def _stamp(row: int) -> str:
    return f"2026-01-01T10:00:0{row}Z"


def given(names: Sequence[str], row: int) -> Row:
    """A row as it comes; rows are counted from one."""
    held = {name: _value(names, row, name) for name in names}
    return {"k": "a", **held, "obj": held, "arr": [held], "m": {"a": held}, "ts": _stamp(row)}


def right(names: Sequence[str]) -> dict[str, list[Row]]:
    """The rows of each sink, when two rows of one key have come to each source."""

    def columns(row: int, factor: int = 1, more: int = 0) -> Row:
        return {name: factor * _value(names, row, name) + more for name in names}

    both, first = (1, 2), names[0]
    sums = {name: _value(names, 1, name) + _value(names, 2, name) for name in names}
    found: dict[str, list[Row]] = {
        "plain": [{"k1": "a", **columns(r, more=1)} for r in both],
        "fields": [{"k1": "a", **columns(r)} for r in both],
        "deep": [{"k1": "a", **columns(r, 2)} for r in both],
        "whole": [
            {"k1": "a", "obj": columns(r), "arr": [columns(r)], "m": {"a": columns(r)}}
            for r in both
        ],
        "made": [{"k1": "a", "obj": columns(r)} for r in both],
        "keyed": [{**columns(r), "obj": columns(r), "w": _START, "n of": 1} for r in both],
        "sums": [{"k1": "a", "w": _START, **sums, "obj": columns(2)}],
        "visits": [{first: columns(r)[first], "w": _stamp(r), "n of": 1} for r in both],
        "rolling": [
            {"k1": "a", **columns(1), "obj": columns(1)},
            {"k1": "a", **sums, "obj": columns(2)},
        ],
        "alone": [{**columns(r), "obj": columns(r), "n of": 1} for r in both],
        "matched": [{"k1": "a", **dict.fromkeys(names, 100), "obj": columns(1)}],
        "once": [{**columns(r), "t": _stamp(r)} for r in both],
        "daily": [{**columns(r), "t": _stamp(r)} for r in both],
        "pairs": [{"k1": "a", **columns(r)} for r in both],
        "versions": [{"k1": "a", "t": _stamp(r), **columns(r), "obj": columns(r)} for r in both],
        "panes": [
            {**{n: v for n, v in columns(r).items() if "${" not in n}, "w": _START, "n of": 1}
            for r in both
        ],
        "kept": [{**columns(r, 2), "obj": columns(r), "n": 1} for r in both],
    }
    return {f"{name}_out": rows for name, rows in found.items()}


def timed(name: str) -> str:
    """Everything that uses an event time, which has this name."""
    at = ticked(name)
    text = ""
    for source in ("e", "f"):
        text += (
            f"CREATE SOURCE {source} (k STRING NOT NULL, v INT, {at} TIMESTAMP, WATERMARK FOR {at} "
            f"AS {at} - INTERVAL 1 SECOND) "
            f"ON FUTURE ROWS BEYOND INTERVAL 1 DAY SEND TO {source}_ahead " + _FILES.format(source)
        )
    counted = "SELECT k, window_start, COUNT(*) AS n FROM"
    streams = {
        "hours": f"{counted} TUMBLE(e, {at}, {_HOUR}) GROUP BY k, window_start "
        "ON LATE ROWS SEND TO too_late",
        "hops": f"{counted} HOP(e, {at}, INTERVAL 10 MINUTES, {_HOUR}) GROUP BY k, window_start",
        "grown": f"{counted} CUMULATE(e, {at}, INTERVAL 10 MINUTES, {_HOUR}) "
        "GROUP BY k, window_start, window_end",
        "visits": f"{counted} SESSION(e PARTITION BY k, {at}, {_HOUR}) GROUP BY k, window_start",
        "rolling": f"SELECT k, {at}, SUM(v) OVER (PARTITION BY k ORDER BY {at} "
        f"RANGE {_HOUR} PRECEDING) AS s FROM e",
        "matched": f"SELECT k, a FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY {at} MEASURES "
        f"FIRST({at}) AS a PATTERN (A B) WITHIN {_HOUR})",
        "once": f"SELECT DISTINCT ON (k) WITHIN INTERVAL 1 DAY k, {at} FROM e",
        "firsts": f"SELECT DISTINCT ON (k) k, {at} FROM e",
        "pairs": f"SELECT x.k, x.{at}, y.v FROM e AS x JOIN f AS y "
        f"ON x.k = y.k AND y.{at} BETWEEN x.{at} AND x.{at} + {_HOUR}",
        "per_pair": f"{counted} TUMBLE(pairs, {at}, {_HOUR}) GROUP BY k, window_start",
        "versions": f"SELECT x.k, x.{at}, y.v FROM e AS x LEFT JOIN f FOR SYSTEM_TIME AS OF x.{at} "
        f"AS y ON y.k = x.k AND y.{at} >= x.{at} - INTERVAL 1 DAY",
        "together": f"SELECT x.k, x.window_start FROM TUMBLE(e, {at}, {_HOUR}) AS x "
        f"JOIN TUMBLE(f, {at}, {_HOUR}) AS y ON x.k = y.k AND x.window_start = y.window_start",
    }
    for stream, query in streams.items():
        text += f"CREATE STREAM {stream} AS {query};\n"
    for stream in (*streams, "too_late", "e_ahead", "f_ahead"):
        text += f"CREATE SINK {stream}_out FROM {stream} WITH (connector = 'memory');\n"
    return text


def inside(names: Sequence[str]) -> str:
    """Streams in which the names stand where they name something within a statement alone.

    Aliases, windows, variables of patterns, of lambdas and of loops, locals, parameters of
    functions; and columns that are computed, or looked up in a table.
    """

    def each(form: str, between: str = ", ", of: Sequence[str] = names) -> str:
        return between.join(
            form.replace("{n}", ticked(name)).replace("{i}", str(names.index(name))) for name in of
        )

    # A point in the variable of a lambda would be a field.
    lambdas = [name for name in names if "." not in name]
    mapped = each("transform(array(v), {n} -> {n} + {i})[0] AS {n}", of=lambdas)
    streams = {
        "mapped": f"SELECT k AS k1, {mapped} FROM e",
        "called": f"SELECT k AS k1, {each('plus_{i}(v) AS {n}')} FROM e",
        "looked_up": f"SELECT e.k AS k1, {each('t.{n}')} FROM e JOIN t ON t.k = e.k",
        "computed": f"SELECT k AS k1, {each('{n}')} FROM c",
        "aliased": each("SELECT {n}.k AS k1, {n}.v + {i} AS v FROM e AS {n}", " UNION ALL "),
        "joined": "SELECT {0}.k AS k1, {1}.v FROM e AS {0} JOIN c AS {1} ON {0}.k = {1}.k "
        "AND {1}.ts BETWEEN {0}.ts AND {0}.ts".format(*map(ticked, names)),
        "matched": "SELECT k AS k1, v FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts "
        f"MEASURES LAST(v) AS v PATTERN (A ({each('{n}', ' | ')})) WITHIN {_HOUR} "
        f"DEFINE {each('{n} AS v > 1')})",
    }
    streams |= {
        f"rolling_{n}": f"SELECT k AS k1, SUM(v) OVER {ticked(name)} AS s FROM e WINDOW "
        f"{ticked(name)} AS (PARTITION BY k ORDER BY ts RANGE {_HOUR} PRECEDING)"
        for n, name in enumerate(names[-2:])
    }
    text = each("CREATE FUNCTION plus_{i}({n} INT) RETURNS INT RETURN {n} + {i};\n", "")
    text += f"CREATE TABLE t (k STRING NOT NULL, {each('{n} INT')}) {_FILES.format('t')}"
    for source, more in (("e", ""), ("c", each("{n} AS v + {i}, ", ""))):
        text += (
            f"CREATE SOURCE {source} (k STRING NOT NULL, v INT, {more}ts TIMESTAMP, "
            "WATERMARK FOR ts AS ts - INTERVAL 0 SECONDS) " + _FILES.format(source)
        )
    text += f"""\
CREATE OPERATOR walked WITH (unbounded = 'a key') ON e PARTITION BY k ORDER BY ts
  STATE (sum INT DEFAULT 0)
  RETURNS (k1 STRING, sum INT)
AS
ON EVENT
  {each("DECLARE {n} INT = v;", chr(10), names[::2])}
  {each("SET sum = sum + {n};", chr(10), names[::2])}
  {each("FOR {n} IN ARRAY(1, v) DO SET sum = sum + {n}; END FOR;", chr(10), names[1::2])}
  EMIT k, sum;
END;
"""
    text += "".join(f"CREATE STREAM {name} AS {query};\n" for name, query in streams.items())
    return text + "".join(
        f"CREATE SINK {name}_out FROM {name} WITH (connector = 'memory');\n"
        for name in (*streams, "walked")
    )


def right_inside(names: Sequence[str]) -> dict[str, list[Row]]:
    """The rows of each sink of `inside`, when `v` was 1 and then 2, and the table has `places`."""

    def plus(v: int, of: Sequence[str] = names) -> Row:
        return {name: v + names.index(name) for name in of}

    lambdas = [name for name in names if "." not in name]
    declared, looped = len(names[::2]), len(names[1::2])
    steps = [declared + 2 * looped, 2 * declared + 3 * looped]
    return {
        "mapped_out": [{"k1": "a", **plus(v, lambdas)} for v in (1, 2)],
        "called_out": [{"k1": "a", **plus(v)} for v in (1, 2)],
        "looked_up_out": [{"k1": "a", **places(names)}] * 2,
        "computed_out": [{"k1": "a", **plus(v)} for v in (1, 2)],
        "aliased_out": [{"k1": "a", "v": v + n} for n in range(len(names)) for v in (1, 2)],
        "joined_out": [{"k1": "a", "v": v} for v in (1, 2)],
        "matched_out": [{"k1": "a", "v": 2}],
        **{f"rolling_{n}_out": [{"k1": "a", "s": 1}, {"k1": "a", "s": 3}] for n in (0, 1)},
        "walked_out": [{"k1": "a", "sum": steps[0]}, {"k1": "a", "sum": sum(steps)}],
    }


def places(names: Sequence[str]) -> Row:
    """The columns of the table's row, each with its place among the names."""
    return {name: names.index(name) for name in names}
