"""The patterns of ``matches.stream`` by brute force: each way to match, in the order of preference.

A pattern is a nested tuple: a variable, ``("then", a, b)``, ``("or", a, b)``, or ``("times", a,
least, most, greedy)``. A match is a list of rows with their variables. From each row on all ways to
match are gone through, the preferred ones first, until one is a match.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from .streams import Row
from .windows import MINUTE

Match = list[tuple[str, Row]]
Pattern = Any
Condition = Callable[[Match], Any]


@dataclass(frozen=True)
class Stream:
    """A stream of ``matches.stream``; a condition sees the match with the row that it is for.

    Rows of one instant are in the order of the ``columns`` that the stream reads. ``skip_to`` is a
    variable, and 0 or -1 for its first or last row. With ``all_rows`` each row of a match comes
    out, with what is measured of the match up to there.
    """

    pattern: Pattern
    define: dict[str, Condition]
    within: timedelta
    measures: Callable[[Match], Row]
    next_row: bool = False
    skip_to: tuple[str, int] | None = None
    numbered: bool = False
    all_rows: bool = False
    columns: tuple[str, ...] = ("kind", "i")


def matches(rows: list[Row], stream: Stream) -> Iterator[Match]:
    """Yield the matches of one key, whose rows are in order."""
    start = 0
    while start < len(rows):
        found = next((m for m in _ways(stream.pattern, rows, start, [], stream) if m), None)
        if found is None or stream.next_row:
            start += 1
        elif stream.skip_to is not None:
            variable, end = stream.skip_to
            places = [place for place, (name, _) in enumerate(found) if name == variable]
            assert places[end] > 0
            start += places[end]
        else:
            start += len(found)
        if found is not None:
            yield found


def _ways(
    pattern: Pattern, rows: list[Row], start: int, before: Match, stream: Stream
) -> Iterator[Match]:
    match pattern:
        case str():
            place = start + len(before)
            if place < len(rows):
                row = rows[place]
                found = [*before, (pattern, row)]
                condition = stream.define.get(pattern, lambda _: True)
                if row["ts"] - rows[start]["ts"] <= stream.within and condition(found) is True:
                    yield found
        case ("then", *parts):
            if not parts:
                yield before
                return
            first, *rest = parts
            for found in _ways(first, rows, start, before, stream):
                yield from _ways(("then", *rest), rows, start, found, stream)
        case ("or", *parts):
            for part in parts:
                yield from _ways(part, rows, start, before, stream)
        case ("times", part, least, most, greedy):
            yield from _times(part, least, most, greedy, rows, start, before, stream)


def _times(
    part: Pattern,
    least: int,
    most: int,
    greedy: bool,
    rows: list[Row],
    start: int,
    before: Match,
    stream: Stream,
) -> Iterator[Match]:
    if least == 0 and not greedy:
        yield before
    if most > 0:
        for found in _ways(part, rows, start, before, stream):
            if len(found) > len(before):
                again = max(least - 1, 0)
                yield from _times(part, again, most - 1, greedy, rows, start, found, stream)
    if least == 0 and greedy:
        yield before


def expected(rows: list[Row], stream: Stream) -> list[Row]:
    """Return what a stream gives: a row for each match of each key."""
    keys: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        keys[row["stream"]].append(row)
    return [
        {"stream": key, **({"number": number} if stream.numbered else {}), **shown}
        for key, own in keys.items()
        for number, found in enumerate(
            matches(sorted(own, key=lambda row: _order(row, stream)), stream), start=1
        )
        for shown in _shown(found, stream)
    ]


def _shown(match: Match, stream: Stream) -> list[Row]:
    """Return what is shown of a match: a row, or all of its rows."""
    if not stream.all_rows:
        return [stream.measures(match)]
    return [
        {**stream.measures(match[: place + 1]), **{n: row[n] for n in ("kind", "i", "ts")}}
        for place, (_, row) in enumerate(match)
    ]


def _order(row: Row, stream: Stream) -> tuple[Any, ...]:
    values = [row[name] for name in stream.columns]
    return (row["ts"], *((one is not None, one) for one in values))


# What conditions and measures say.


def of(match: Match, variable: str | None, column: str) -> list[Any]:
    """Return a column in the rows of a variable, or in all rows."""
    return [row[column] for name, row in match if variable in (None, name)]


def _at(values: list[Any], place: int) -> Any:
    return values[place] if -len(values) <= place < len(values) else None


def _sum(values: list[Any]) -> Any:
    known = [one for one in values if one is not None]
    return sum(known) if known else None


def _and(*parts: Callable[[], Any]) -> Any:
    found = [part() for part in parts]
    return False if False in found else None if None in found else True


def _or(*parts: Any) -> Any:
    return True if True in parts else None if None in parts else False


def _compared(a: Any, b: Any, how: Callable[[Any, Any], bool]) -> Any:
    return None if a is None or b is None else how(a, b)


def _kind(*kinds: str) -> Condition:
    return lambda match: match[-1][1]["kind"] in kinds


def _not(kind: str) -> Condition:
    return lambda match: match[-1][1]["kind"] is not None and match[-1][1]["kind"] != kind


def _greedy(match: Match) -> Row:
    bs = [one for one in of(match, "B", "i") if one is not None]
    known = [one for one in of(match, None, "i") if one is not None]
    return {
        **{"began": match[0][1]["ts"], "ended": match[-1][1]["ts"], "n": len(match)},
        **{"bs": len(bs), "total": _sum(bs), "least": min(bs, default=None)},
        "mean": sum(known) / len(known) if known else None,
    }


def _reluctant(match: Match) -> Row:
    bs = of(match, "B", "i")
    return {
        **{"began": match[0][1]["ts"], "ended": of(match, "C", "ts")[-1], "bs": len(bs)},
        **{"last": _at(bs, -1), "first": _at(bs, 0)},
    }


def _falling(match: Match) -> Row:
    path = of(match, None, "i")
    return {
        **{"top": path[0], "bottom": path[-1], "before": path[-2]},
        "path": [one for one in path if one is not None],
    }


def _alternatives(match: Match) -> Row:
    known = [one for one in of(match, "C", "i") if one is not None]
    return {
        **{"began": match[0][1]["ts"], "n": len(match), "c": max(known, default=None)},
        **{"az": len(of(match, "A", "i")), "bz": len(of(match, "B", "i"))},
    }


def _overlapping(match: Match) -> Row:
    return {
        **{"began": match[0][1]["ts"], "ended": match[-1][1]["ts"]},
        **{"az": len(of(match, "A", "i")), "bz": len(of(match, "B", "i"))},
    }


def _dependent(match: Match) -> Row:
    bs = of(match, "B", "i")
    return {
        **{"a": of(match, "A", "i")[0], "b": _at(bs, -1), "b2": _at(bs, -2), "b1": _at(bs, 1)},
        **{"c": of(match, "C", "i")[-1], "total": _sum(of(match, None, "i"))},
    }


def _last_of_dependent(match: Match) -> Any:
    i = match[-1][1]["i"]
    more = _compared(i, _sum(of(match, "B", "i")), lambda a, b: a > b)
    less = _compared(i, _at(of(match, "A", "i"), -1), lambda a, b: a < b)
    return _or(more, _and(lambda: len(of(match, "A", "i")) > 1, lambda: less))


def _spread(values: list[int]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((one - mean) ** 2 for one in values) / len(values))


def _measured(match: Match) -> Row:
    names, bs = [name for name, _ in match], of(match, "B", "i")
    known, bs_known = (
        [one for one in some if one is not None] for some in (of(match, None, "i"), bs)
    )
    cs = [one for one in of(match, "C", "i") if one is not None]
    kinds = [one for one in of(match, None, "kind") if one is not None]
    counted = [row for _, row in match if row["i"] is not None]
    best = max(known, default=None)
    return {
        **{"last": names[-1], "second": names[1], "path": "".join(names)},
        **{"large": [one for one in bs_known if one > 1], "cs": sum(one > 1 for one in cs)},
        "deviation": statistics.stdev(known) if len(known) > 1 else None,
        "variance": float(statistics.pvariance(bs_known)) if bs_known else None,
        "kinds": len(set(kinds)),
        "kind_of_most": next((r["kind"] for r in reversed(counted) if r["i"] == best), None),
        "any_large": any(one > 3 for one in known) if known else None,
        **{"bs": kinds.count("b"), "bbs": of(match, "B", "kind").count("b")},
        "correlation": _correlation(known),
        "middle": float(statistics.median(known)) if known else None,
        "span": max(cs) - min(cs) if cs else None,
    }


def _correlation(values: list[int]) -> Any:
    squares = [one * one for one in values]
    if len(set(values)) < 2 or len(set(squares)) < 2:
        return None
    return statistics.correlation(values, squares)


def _c_of_measured(match: Match) -> Any:
    known = [one for one in of(match, None, "i") if one is not None]
    if match[-2][0] == "C":
        return False
    return _spread(known) < 1.5 if known else None


def _ends(match: Match) -> Row:
    bs = len(of(match, "B", "i"))
    return {"began": match[0][1]["ts"], "ended": match[-1][1]["ts"], "bs": bs}


def _above(least: int) -> Condition:
    return lambda match: _compared(match[-1][1]["i"], least, lambda a, b: a > b)


def _all_rows(match: Match) -> Row:
    cs = of(match, "C", "i")
    return {
        **{"variable": match[-1][0], "total": _sum(of(match, "B", "i"))},
        "c": cs[-1] if cs else None,
    }


def _longest(match: Match) -> Row:
    known = [one for one in of(match, None, "i") if one is not None]
    return {"variable": match[-1][0], "deviation": _spread(known) if known else None}


def _span(match: Match) -> Row:
    return {"began": match[0][1]["ts"], "ended": match[-1][1]["ts"]}


MANY = 1_000
STREAMS = {
    "greedy": Stream(
        ("then", "A", ("times", "B", 1, MANY, True), "C"),
        {"A": _kind("a"), "B": _kind("b", "c"), "C": _kind("c")},
        12 * MINUTE,
        _greedy,
    ),
    "reluctant": Stream(
        ("then", "A", ("times", "B", 0, MANY, False), "C"),
        {"A": _kind("a", "b"), "C": _kind("b", "c")},
        12 * MINUTE,
        _reluctant,
        next_row=True,
    ),
    "falling": Stream(
        ("then", "START", ("times", "DOWN", 1, 2, True)),
        {"DOWN": lambda match: _compared(match[-1][1]["i"], match[-2][1]["i"], lambda a, b: a < b)},
        60 * MINUTE,
        _falling,
        columns=("i",),
    ),
    "alternatives": Stream(
        ("then", ("times", ("or", "A", "B"), 1, 4, True), ("times", "C", 0, 1, True)),
        {"A": _kind("a"), "B": _kind("a", "b"), "C": _kind("b", "c")},
        12 * MINUTE,
        _alternatives,
    ),
    "overlapping": Stream(
        (
            "then",
            ("times", "A", 1, MANY, True),
            ("times", "B", 1, MANY, True),
            ("or", "C", "A"),
        ),
        {"A": _not("c"), "B": _not("a")},
        15 * MINUTE,
        _overlapping,
        next_row=True,
        columns=("kind",),
    ),
    "dependent": Stream(
        ("then", ("times", "A", 1, MANY, True), ("times", "B", 0, MANY, True), "C"),
        {
            "B": lambda match: _compared(
                match[-1][1]["i"], of(match, "A", "i")[0], lambda a, b: a >= b
            ),
            "C": _last_of_dependent,
        },
        15 * MINUTE,
        _dependent,
        columns=("i",),
    ),
    "to_last": Stream(
        ("then", "A", ("times", "B", 1, MANY, True), "C"),
        {"A": _not("c"), "B": _not("a"), "C": _above(1)},
        15 * MINUTE,
        _ends,
        skip_to=("B", -1),
    ),
    "to_first": Stream(
        (
            "then",
            ("times", "A", 1, MANY, True),
            ("times", "B", 0, MANY, True),
            ("times", "C", 1, 3, True),
            ("times", "D", 0, 1, True),
        ),
        {"A": _not("c"), "B": _kind("b"), "C": _above(1), "D": _kind("a")},
        15 * MINUTE,
        _ends,
        skip_to=("C", 0),
    ),
    "measured": Stream(
        ("then", "A", ("times", ("or", "B", "C"), 1, MANY, True), "END"),
        {"A": _kind("a"), "B": _kind("b"), "C": _c_of_measured, "END": _above(1)},
        15 * MINUTE,
        _measured,
    ),
    "all_rows": Stream(
        ("then", "A", ("times", "B", 0, MANY, False), "C"),
        {"A": _kind("a", "b"), "C": _kind("b", "c")},
        12 * MINUTE,
        _all_rows,
        next_row=True,
        numbered=True,
        all_rows=True,
    ),
    "longest": Stream(
        ("then", "A", ("times", ("or", "B", "C"), 1, MANY, True), ("times", "D", 0, 1, True)),
        {"A": _kind("a"), "B": _kind("b"), "C": _above(1), "D": _kind("a")},
        15 * MINUTE,
        _longest,
        all_rows=True,
    ),
    "counted": Stream(
        ("then", "A", ("times", "B", 1, MANY, True), "C"),
        {"A": _not("c"), "B": _not("a"), "C": _above(1)},
        15 * MINUTE,
        _span,
        skip_to=("B", -1),
        numbered=True,
    ),
}
