"""Rolling aggregates and count windows of ``over.stream`` by brute force, over the whole input.

For each row the frame is looked for anew among all rows of its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from .streams import Row

MINUTE = timedelta(minutes=1)
Frame = list[Row]


def in_order(rows: Iterable[Row], key: str = "stream") -> list[list[Row]]:
    """Return the rows of each key by their instants, those of an instant by values, NULL first."""

    def place(row: Row) -> Any:
        return row["ts"], [(row[name] is not None, row[name]) for name in ("kind", "i")]

    found: dict[Any, list[Row]] = {}
    for row in sorted(rows, key=place):
        found.setdefault(row[key], []).append(row)
    return list(found.values())


def within(rows: Frame, at: int, length: timedelta) -> Frame:
    """Return the frame of RANGE: what is at most so old, and all rows of the instant."""
    now = rows[at]["ts"]
    return [row for row in rows if now - length <= row["ts"] <= now]


def up_to(rows: Frame, at: int) -> Frame:
    """Return all rows so far, with those of the instant."""
    return [row for row in rows if row["ts"] <= rows[at]["ts"]]


def last(rows: Frame, at: int, count: int) -> Frame:
    """Return the frame of ROWS: the row and so many before it."""
    return rows[max(at - count, 0) : at + 1]


def known(rows: Frame, name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None]


def total(rows: Frame, name: str = "i") -> Any:
    return sum(known(rows, name)) if known(rows, name) else None


def mean(rows: Frame) -> Any:
    values = known(rows, "i")
    return sum(values) / len(values) if values else None


def least(rows: Frame, name: str) -> Any:
    return min(known(rows, name), default=None)


def most(rows: Frame, name: str) -> Any:
    return max(known(rows, name), default=None)


def before(rows: Frame, at: int, name: str, distance: int, default: Any = None) -> Any:
    return rows[at - distance][name] if at >= distance else default


def by_time(rows: Frame, at: int) -> Row:
    frame = within(rows, at, 6 * MINUTE)
    of_a = [row for row in frame if row["kind"] == "a"]
    half = total(within(rows, at, MINUTE / 2))
    return {
        "total": total(frame),
        "n": len(frame),
        "known": len(known(frame, "i")),
        "mean": mean(frame),
        "least": least(frame, "i"),
        "most": most(frame, "kind"),
        "of_a": total(of_a),
        "first": frame[0]["kind"],
        "last": (known(frame, "i") or [None])[-1],
        "peers": len(within(rows, at, timedelta())),
        "half": None if half is None else 10 * half,
    }


def by_row(rows: Frame, at: int) -> Row:
    frame, own, third = last(rows, at, 2), rows[at]["i"], before(rows, at, "i", 3)
    return {
        "total": total(frame),
        "n": len(frame),
        "mean": mean(frame),
        "most": most(frame, "i"),
        "first": frame[0]["kind"],
        "last": frame[-1]["kind"],
        "before": before(rows, at, "i", 1),
        "kind_before": before(rows, at, "kind", 2, "none"),
        "growth": None if own is None or third is None else own - third,
        "number": at + 1,
        "own": own,
    }


def running(rows: Frame, at: int) -> Row:
    frame = rows[: at + 1]
    return {
        "total": total(frame),
        "known": len(known(frame, "i")),
        "mean": mean(frame),
        "least": least(frame, "kind"),
        "most": most(frame, "i"),
        "first": frame[0]["i"],
        "last": (known(frame, "kind") or [None])[-1],
        "first_kind": (known(frame, "kind") or [None])[0],
        "last_i": frame[-1]["i"],
    }


def mixed(rows: Frame, at: int) -> Row | None:
    frame = up_to(rows, at)
    greatest = most(within(rows, at, 6 * MINUTE), "i")
    if greatest is None or at == 0:
        return None
    return {
        "total": total(frame),
        "last": frame[-1]["kind"],
        "number": at + 1,
        "before": before(rows, at, "i", 1),
        "both": total(last(rows, at, 1)),
        "most": greatest,
    }


def rolled(rows: Iterable[Row], of: Callable[[Frame, int], Row | None]) -> list[Row]:
    """Return what comes out for each row: itself, and what is computed for it."""
    found: list[Row] = []
    for own in in_order(rows):
        for at, row in enumerate(own):
            computed = of(own, at)
            if computed is not None:
                found.append({n: row[n] for n in ("stream", "ts", "kind", "i")} | computed)
    return found


def again(rows: Iterable[Row]) -> list[Row]:
    """Return the greatest of what ``by_time`` gave in four minutes."""
    sums = [row for row in rolled(rows, by_time) if row["i"] is not None]
    found: list[Row] = []
    for own in in_order(sums):
        for at, row in enumerate(own):
            greatest = most(within(own, at, 4 * MINUTE), "total")
            found.append({"stream": row["stream"], "ts": row["ts"], "most": greatest})
    return found


def first_rows(rows: Iterable[Row]) -> list[Row]:
    found: dict[Any, Row] = {}
    for own in in_order(rows):
        for row in own:
            shown = {name: row[name] for name in ("stream", "ts", "kind")}
            found.setdefault((row["stream"], row["kind"]), shown)
    return list(found.values())


def threes(rows: Iterable[Row]) -> list[Row]:
    found: list[Row] = []
    for own in in_order(rows):
        for end in range(3, len(own) + 1, 3):
            frame = own[end - 3 : end]
            found.append(
                {
                    "stream": frame[0]["stream"],
                    "window_start": frame[0]["ts"],
                    "window_end": frame[-1]["ts"],
                    "total": total(frame),
                    "mean": mean(frame),
                    "n": 3,
                    "least": least(frame, "kind"),
                    "first": frame[0]["i"],
                    "last": frame[-1]["i"],
                }
            )
    return found


def last_three(rows: Iterable[Row]) -> list[Row]:
    found: list[Row] = []
    for own in in_order(rows):
        for end in range(2, len(own) + 1, 2):
            frame = own[max(end - 3, 0) : end]
            count = sum(row["kind"] == "a" for row in frame)
            if count < 3:
                found.append(
                    {
                        "stream": frame[0]["stream"],
                        "window_start": frame[0]["ts"],
                        "window_time": frame[-1]["ts"],
                        "total": total(frame),
                        "n": count,
                        "most": most(frame, "i"),
                        "first": frame[0]["kind"],
                    }
                )
    return found


STREAMS: dict[str, Callable[[list[Row]], list[Row]]] = {
    "by_time": lambda rows: rolled(rows, by_time),
    "by_row": lambda rows: rolled(rows, by_row),
    "running": lambda rows: rolled(rows, running),
    "mixed": lambda rows: rolled(rows, mixed),
    "first_rows": first_rows,
    "threes": threes,
    "last_three": last_three,
    "again": again,
}
"""What each stream of the spec must give for all rows."""
