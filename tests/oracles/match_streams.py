"""The patterns, conditions and measures of ``matches.stream`` in plain Python."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

from .matches import Condition, Match, Stream
from .streams import Row
from .windows import MINUTE


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
