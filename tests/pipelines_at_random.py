"""Pipelines of several operators over each other, edits anywhere in them, and rows for them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from random_parts import HEAD, LAYERS, TAILS, USED

_JOINED = r"FROM ([\w(, .]+?\)? AS a) (LEFT |RIGHT |)JOIN (f AS b)(?=\s+ON)"
"""A join by time, whose sides may be swapped."""

Edits: TypeAlias = Sequence[tuple[str, Sequence[str]]]
"""Texts in a spec, and their possible replacements."""

ANYWHERE: Edits = (
    (r"(?<![\w.'])(?<!version: )\d+(?![\w.])", ("{next}", "{less}", "{twice}")),
    (r"SUM\(", ("MAX(", "MIN(", "AVG(", "COUNT(")),
    (r"MAX\(", ("SUM(", "MIN(")),
    (r"MIN\(", ("MAX(",)),
    (r" > ", (" >= ", " < ")),
    (r" < ", (" <= ",)),
    (r" \+ ", (" - ", " * ")),
    (r" AND (?=[uwb.]+ [<>])[^;\n]*", ("",)),
    (r"WHERE [^\n;]*", ("",)),
    (r"\bv\b(?! BIGINT)(?! AS)", ("w",)),
    (r"\bk, id, v, w, ts FROM", ("k, id, w AS v, v AS w, ts FROM",)),
    (r"\bk, id, v, w, ts FROM", ("id AS k, k AS id, v, w, ts FROM",)),
    (r"\n(?=CREATE STREAM top)", ("\n-- a comment\n",)),
    (r" AS s,", (" AS total,",)),
    (r" AS m\b", (" AS most",)),
    (r"FROM s(\d)(?= |;|,)", (r"FROM (SELECT * FROM s\1)",)),
)

OF_SOURCES: Edits = (
    (r"\bx BIGINT,", ("x INT,", "x DOUBLE,", "x DECIMAL(12, 1),")),
    (r"\bv BIGINT,", ("v INT,", "v DOUBLE,", "v DECIMAL(12, 1),", "v BIGINT NOT NULL,")),
    (r"\bu BIGINT,", ("u INT,", "u DOUBLE,", "u BIGINT NOT NULL,")),
    (r"price BIGINT", ("price INT", "price DOUBLE", "price DECIMAL(6, 1)")),
    (r"price > 5", ("price > 4", "price >= 5")),
    (r"u \+ 1", ("1 + u", "u + 2")),
    (r"(?<=at \+ INTERVAL )1", ("30", "60")),
    (r"(k|id) STRING NOT NULL", (r"\1 STRING",)),
    (r"STRUCT<m BIGINT, n BIGINT>", ("STRUCT<n BIGINT, m BIGINT>",)),
    (r"x \+ 3", ("3 + x", "x + 4")),
    (r"scoring:points", ("scoring:others",)),
    (r"a = x, b = x \+ 1", ("a = x, b = x", "a = x, b = 1 + x")),
    (r"b - a;", ("a - b;",)),
    (r"version: 2\n", ("version: 2\n#other module\n",)),
    (r"ON MALFORMED ROWS FAIL", ("ON MALFORMED ROWS SKIP",)),
    (r"ON MALFORMED ROWS SKIP", ("ON MALFORMED ROWS FAIL",)),
    (r"\) (?=ON MALFORMED)", (") ON FUTURE ROWS BEYOND INTERVAL 1 DAY SKIP ",)),
    (r"format = 'json'\)", ("format = 'json', timestamp_unit = 'millis')",)),
    (r"version: 2\n", ("version: 2\nspark: {spark.sql.ansi.enabled: false}\n",)),
    (r"version: 2\n", ("version: 2\nspark: {spark.sql.caseSensitive: true}\n",)),
    (r"version: 2\n", ("version: 2\nspark: {spark.sql.shuffle.partitions: 5}\n",)),
)

OF_ONE_KIND: Edits = (
    (r"COUNT\(\*\)", ("COUNT(v)",)),
    (r"COUNT\(v\)", ("COUNT(*)", "SUM(v)", "AVG(v)")),
    (r"COUNT\(v\) AS n", (r"\g<0>, AVG(v) AS mean", r"\g<0>, SUM(v) / COUNT(v) AS q")),
    (r"COUNT\(DISTINCT \w+\)", ("COUNT(DISTINCT w)", "APPROX_COUNT_DISTINCT(id)")),
    (r"MAX_BY", ("MIN_BY",)),
    (r"LAST_VALUE", ("FIRST_VALUE", "MAX")),
    (r" <> ", (" = ",)),
    (r" (?:INNER )?JOIN (?=[fcT])", (" LEFT JOIN ",)),
    (r" LEFT JOIN ", (" JOIN ",)),
    (r" (?:LEFT |RIGHT |)JOIN (?=f AS|s\d AS)", (" LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ")),
    (_JOINED, ("{swapped}",)),
    (r"(?<=\+ INTERVAL )\d+(?= SECONDS AND)", ("{next}", "{less}", "{twice}")),
    (r" AND b\.x > 2", ("", " AND b.x > 3", " AND a.v > b.x")),
    (r" AND a\.v > b\.x", ("", " AND a.w > b.x")),
    (r"(?<=<= )\d", ("{next}", "{less}")),
    (r"DESC", ("ASC",)),
    (r"v DESC, id ASC", ("v DESC, id DESC", "w DESC, id ASC")),
    (r"ON \(k, id\)", ("ON (k)", "ON (id)", "ON (id, k)")),
    (r"ON \(k, v\)", ("ON (k, w)", "ON (k)", "ON (k, v) WITHIN INTERVAL 200 SECONDS")),
    (r"PARTITION BY k\b", ("PARTITION BY id",)),
    (r"PARTITION BY window_start", ("PARTITION BY k, window_start",)),
    (r"GROUP BY k, id, window_start", ("GROUP BY id, k, window_start", "GROUP BY k, window_start")),
    (r"TUMBLE\((?=s\d, ts, INTERVAL 60)", ("HOP(", "CUMULATE(")),
    (r"HOP\((\w+, ts, )(INTERVAL 60 SECONDS, )", (r"TUMBLE(\1", r"CUMULATE(\1\2")),
    (r"(?<=ts, INTERVAL )60(?= SECONDS, I)", ("30", "120")),
    (r"SECONDS\)", ("SECONDS, OFFSET INTERVAL 30 SECONDS)",)),
    (r"\bSIZE\(seen\)", ("0",)),
    (r"ADD id TO seen", ("ADD k TO seen",)),
    (r"EMIT k, id, n, w", ("EMIT k, id, n, v", "EMIT k, id, n + 1, w")),
    (r"best\[k\]", ("best[id]",)),
    (r"UNION ALL[^;]*", ("",)),
    (r"UNION ALL", ("UNION ALL SELECT k, k AS id, v, w, ts FROM e WHERE v > 7 UNION ALL",)),
    (r"ALLOWED LATENESS INTERVAL 180 SECONDS", ("",)),
    (r" EMIT CHANGES", ("",)),
    (r"HIGH\{1,\}", ("HIGH+?", "HIGH{2,}", "HIGH*")),
    (r"TURN\?", ("TURN", "")),
    (r"LOW\.w", ("HIGH.w",)),
    (r"WITHIN INTERVAL \d+ SECONDS(?= k)", ("",)),
    (r"RANGE INTERVAL \d+ SECONDS PRECEDING", ("ROWS 3 PRECEDING",)),
    (r"LAG\(v, 1\)", ("LAG(w, 1)", "LAG(v, 2)")),
    (r"v <> 4 AND w > 2", ("w > 2 AND v <> 4", "2 < w AND NOT v = 4")),
)


def pipeline(draw: random.Random) -> str:
    """A chain of two to four operators; the compiler may reject it."""
    policy = draw.choice(["FAIL", "FAIL", "SKIP"])
    text, below = "", "s0"
    for number in range(1, draw.randint(1, 3) + 1):
        layer = LAYERS[draw.choice([*LAYERS])]
        text += layer.replace("{i}", below).replace("{o}", f"s{number}")
        below = f"s{number}"
    text += TAILS[draw.choice([*TAILS])].replace("{i}", below)
    used = [stated for name, stated in USED.items() if re.search(rf"\b{name}\b", text)]
    return HEAD.replace("{malformed}", policy) + "".join(used) + text


def edited(text: str, draw: random.Random) -> str:
    """The second version of a spec, with one to three edits at random places."""
    text = text.replace("{version}", "2")
    kinds = (ANYWHERE, OF_SOURCES, OF_ONE_KIND, OF_ONE_KIND)
    for _ in range(draw.choice([1, 1, 2, 3])):
        places = []
        while not places:
            pattern, instead = draw.choice(draw.choice(kinds))
            places = [*re.finditer(pattern, text)]
        place = draw.choice(places)
        new = _written(place, draw.choice(list(instead)))
        text = text[: place.start()] + new + text[place.end() :]
    return text


def _written(place: re.Match[str], new: str) -> str:
    """The replacement of a match."""
    if new == "{swapped}":
        other = {"LEFT ": "RIGHT ", "RIGHT ": "LEFT ", "": ""}[place[2]]
        return f"FROM {place[3]} {other}JOIN {place[1]}"
    if not new.startswith("{"):
        return place.expand(new) if "\\" in new else new
    number = int(place[0])
    step = 60 if number >= 60 else 1
    ways = {"{next}": number + step, "{less}": max(number - step, 1), "{twice}": number * 2}
    return str(ways[new])


def module_folder(text: str) -> str:
    """The name of the folder with the module that a version calls functions of."""
    return "2" if "#other module" in text else "1"


def batches(draw: random.Random, *texts: str) -> list[dict[str, str]]:
    """What arrives step by step, a text for each source: instants advance, some rows are late.

    Rows that are malformed, or of the future, come where some version leaves such rows out.
    """
    broken = all("MALFORMED ROWS SKIP" in text for text in texts)
    strict = not broken and any("v BIGINT NOT NULL" in text for text in texts)
    future = any("FUTURE ROWS" in text for text in texts)
    start, second = datetime(2026, 1, 1, tzinfo=UTC), 0
    found = []
    for step in range(draw.randint(3, 4)):
        rows: dict[str, list[str]] = {"e": [], "f": []}
        for _ in range(draw.randint(9, 18)):
            second += draw.randint(1, 25)
            at = (start + timedelta(seconds=second - draw.choice([0, 0, 20, 90]))).isoformat()
            held: dict[str, object] = {
                "k": draw.choice("ab"),
                "id": draw.choice("xyz"),
                "v": draw.choice([None, *range(1, 10)]),
                "u": draw.randint(0, 9),
                "at": at,
            }
            if strict and held["v"] is None:
                held["v"] = 5
            if broken and draw.random() < 0.3:
                held |= draw.choice([{"v": 2.5}, {"u": 1.5}, {"k": None}, {"id": None}])
            rows["e"].append(json.dumps(held))
            if draw.random() < 0.6:
                p = {"m": draw.randint(0, 9), "n": draw.randint(0, 9)}
                other = {"id": draw.choice("xyz"), "x": draw.randint(0, 9), "p": p, "ts": at}
                rows["f"].append(json.dumps(other))
        if future and step == 0:
            ahead = {"k": "a", "id": "x", "v": 5, "u": 5, "at": "2099-01-01T00:00:00Z"}
            rows["e"].append(json.dumps(ahead))
        found.append({name: "".join(f"{row}\n" for row in rows[name]) for name in rows})
    return found


CARDS = "".join(
    json.dumps({"id": id_, "price": price}) + "\n" for id_, price in (("x", 5), ("y", 6), ("z", 9))
)
