"""All aggregates of ``statistics.stream`` by brute force, each over its frame anew.

Means, deviations and quantiles are those of Python's own ``statistics``.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from functools import reduce
from operator import xor
from typing import Any

from .over import MINUTE, Frame, in_order, known, last, rolled, within
from .streams import Row


def numbered(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with ``n``, as the spec has it; the remainder has the sign of ``i``."""

    def n(row: Row) -> Any:
        if None in (row["kind"], row["i"]):
            return None
        return len(row["kind"]) + int(math.fmod(row["i"], 2))

    return [{**row, "n": n(row)} for row in rows]


def _pairs(rows: Frame, *names: str) -> list[tuple[Any, ...]]:
    """Return the values of rows in which none of them is NULL."""
    found = [tuple(row[name] for name in names) for row in rows]
    return [values for values in found if None not in values]


def _correlation(pairs: list[tuple[Any, ...]]) -> Any:
    if len({x for x, _ in pairs}) < 2 or len({y for _, y in pairs}) < 2:
        return None
    return statistics.correlation(*zip(*pairs, strict=True))


def _chosen(rows: Frame, choose: Callable[[Any], Any]) -> Any:
    """Return the kind of the least or greatest number, of the last such row."""
    counted = [row for row in rows if row["i"] is not None]
    best = choose(row["i"] for row in counted) if counted else None
    return next((row["kind"] for row in reversed(counted) if row["i"] == best), None)


def _share(values: list[int], share: float) -> float:
    place = (len(values) - 1) * share
    below, above = sorted(values)[math.floor(place)], sorted(values)[math.ceil(place)]
    return float(below + (above - below) * (place - math.floor(place)))


def _spread(rows: Frame) -> Row:
    values, weights = known(rows, "i"), known(rows, "n")
    return {
        "width": max(values) - min(values) if values else None,
        "seen": sorted(values),
        "total": sum(weights) if weights else -1,
        "any": any(weight > 1 for weight in weights) if weights else None,
    }


def summary(rows: Frame) -> Row:
    """Return what each stream has of a frame."""
    numbers, kinds = known(rows, "i"), known(rows, "kind")
    of_a = [row["i"] for row in rows if row["kind"] == "a"]
    of_a_known = [one for one in of_a if one is not None]
    squares = [(i, i * i) for i in numbers]
    lists = sorted(_of_kind(row) for row in rows if row["i"] is not None)
    return {
        "deviation": statistics.stdev(numbers) if len(numbers) > 1 else None,
        "variance": float(statistics.pvariance(of_a_known)) if of_a_known else None,
        "covariance": (
            statistics.covariance(*zip(*squares, strict=True)) if len(squares) > 1 else None
        ),
        "correlation": _correlation(_pairs(rows, "i", "n")),
        "kinds": len(set(kinds)),
        "pairs": len(set(_pairs(rows, "kind", "i"))),
        "kind_set": sorted({kind for kind, i in _pairs(rows, "kind", "i") if i > 0}),
        "list": numbers,
        "by_kind": [i for _, _, i in lists],
        "small": all(i < 3 for i in numbers) if numbers else None,
        "large": any(i > 2 for i in numbers) if numbers else None,
        "bits": reduce(xor, numbers) if numbers else None,
        "kind_of_least": _chosen(rows, min),
        "kind_of_most": _chosen([row for row in rows if row["kind"] in ("a", "b")], max),
        "both": len(_pairs(rows, "kind", "i")),
        "positive": sum(i > 0 for i in numbers),
        "spread": _spread(rows),
        "middle": float(statistics.median(numbers)) if numbers else None,
        "shares": [_share(numbers, 0), _share(numbers, 0.9)] if numbers else None,
        "mode": statistics.mode(sorted(kinds)) if kinds else None,
        "text": "-".join(kinds) if kinds else None,
        "first_of_a": of_a[0] if of_a else None,
    }


def _of_kind(row: Row) -> tuple[Any, ...]:
    return row["kind"] is not None, row["kind"] or "", row["i"]


def in_frame(rows: Frame) -> Row:
    """Return what a stream has besides of a frame of OVER."""
    numbers = known(rows, "i")
    return {
        "second": rows[1]["kind"] if len(rows) > 1 else None,
        "second_i": numbers[1] if len(numbers) > 1 else None,
    }


def sketched(rows: Frame) -> Row:
    """Return what Spark makes of sketches, which are exact for so few rows."""
    numbers = sorted(known(rows, "i"))
    place = max(math.ceil(0.3 * len(numbers)), 1) - 1
    return {"third": numbers[place] if numbers else None, "about": len(set(numbers))}


def by_time(rows: Frame, at: int) -> Row:
    frame, now = within(rows, at, 6 * MINUTE), rows[at]["ts"]
    before = [row["ts"] for row in rows if row["ts"] < now]
    ranks = {"rank": len(before) + 1, "dense_rank": len(set(before)) + 1}
    digits = "".join(str(one) for one in known(frame, "i")) or None
    return {**summary(frame), **in_frame(frame), **sketched(frame), **ranks, "digits": digits}


def so_far(rows: Frame, at: int) -> Row:
    frame = rows[: at + 1]
    return {**summary(frame), **in_frame(frame)}


def counted(rows: Iterable[Row], size: int, slide: int) -> list[Row]:
    """Return the windows of so many rows, one each ``slide`` rows."""
    found: list[Row] = []
    for own in in_order(rows):
        for end in range(slide, len(own) + 1, slide):
            frame = last(own, end - 1, size - 1)
            shown = {"stream": frame[0]["stream"], "window_start": frame[0]["ts"]}
            found.append({**shown, **summary(frame), **sketched(frame)})
    return found


STREAMS: dict[str, Callable[[list[Row]], list[Row]]] = {
    "many_by_time": lambda rows: rolled(numbered(rows), by_time),
    "many_so_far": lambda rows: rolled(numbered(rows), so_far),
    "fives": lambda rows: counted(numbered(rows), 5, 5),
    "last_five": lambda rows: counted(numbered(rows), 5, 2),
}
"""What each stream of the spec must give for all rows."""
