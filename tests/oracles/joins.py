"""The joins of ``joins.stream`` in plain Python, over all rows at once: none of them is late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from .streams import LAST, Batches, Row
from .windows import MINUTE, Window, cumulating, hopping, tumbling

Pair = tuple[Row | None, Row | None]
_KEPT = {"inner": "", "left": "a", "right": "b", "full": "ab"}

WINDOWS: dict[str, Callable[[datetime], Iterator[Window]]] = {
    "inner": lambda ts: tumbling(ts, 5 * MINUTE),
    "left": lambda ts: hopping(ts, 5 * MINUTE, 10 * MINUTE),
    "right": lambda ts: cumulating(ts, 3 * MINUTE, 6 * MINUTE),
    "full": lambda ts: tumbling(ts, 5 * MINUTE),
}


def joined(
    left: list[Row], right: list[Row], kind: str, meet: Callable[[Row, Row], bool]
) -> Iterator[Pair]:
    """Yield the pairs of a join, and the rows without a partner of the sides that are kept."""
    pairs = [(a, b) for a in left for b in right if _keys_are_equal(a, b) and meet(a, b)]
    yield from pairs
    for side, rows, place in (("a", left, 0), ("b", right, 1)):
        met = {id(pair[place]) for pair in pairs}
        for row in rows if side in _KEPT[kind] else ():
            if id(row) not in met:
                yield (row, None) if side == "a" else (None, row)


def _keys_are_equal(a: Row, b: Row) -> bool:
    return a["stream"] == b["stream"] and a["k"] is not None and a["k"] == b["k"]


def in_interval(a: Row, b: Row) -> bool:
    """Return whether two rows meet in the interval joins."""
    distance: timedelta = b["ts"] - a["ts"]
    known = None not in (a["i"], b["i"])
    return known and a["i"] <= b["i"] and -2 * MINUTE <= distance <= 5 * MINUTE


def timed(batches: Batches) -> list[Row]:
    """Return the rows that have an instant, but for those that close the others."""
    return [r for batch in batches for r in batch if r["ts"] is not None and r["stream"] != LAST]


def windowed(rows: list[Row], windows: Callable[[datetime], Iterator[Window]]) -> list[Row]:
    """Return the rows once for each window, with its end."""
    return [{**row, "end": end} for row in rows for _, end in windows(row["ts"])]


def in_window(a: Row, b: Row) -> bool:
    """Return whether two rows meet in the window joins."""
    return bool(a["end"] == b["end"])


def shown(pair: Pair, **names: str) -> dict[str, Any]:
    """Return columns of a pair: the name of each with the column that it shows on both sides."""
    sides = zip(("a", "b"), pair, strict=True)
    return {
        (f"{name}_{side}" if name else side): None if row is None else row[column]
        for side, row in sides
        for name, column in ((n.rstrip("_"), c) for n, c in names.items())
    }
