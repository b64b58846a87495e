"""The windows of ``windows.stream`` in plain Python, late rows left out as Spark does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from .streams import LAST, Batches, Row, Watermarks

Window = tuple[datetime, datetime]
Groups = dict[tuple[int, datetime, datetime], list[Row]]
MINUTE = timedelta(minutes=1)
GAP = 3 * MINUTE
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NONE = timedelta(0)


def tumbling(ts: datetime, size: timedelta, offset: timedelta = _NONE) -> Iterator[Window]:
    """Yield the one window of an instant."""
    start = ts - (ts - _EPOCH - offset) % size
    yield start, start + size


def hopping(
    ts: datetime, slide: timedelta, size: timedelta, offset: timedelta = _NONE
) -> Iterator[Window]:
    """Yield the windows of an instant, the last to begin first."""
    ((start, _),) = tumbling(ts, slide, offset)
    while start + size > ts:
        yield start, start + size
        start -= slide


def cumulating(
    ts: datetime, step: timedelta, size: timedelta, offset: timedelta = _NONE
) -> Iterator[Window]:
    """Yield the windows of an instant, the shortest first."""
    ((start, end),) = tumbling(ts, size, offset)
    for count in range(1, (end - start) // step + 1):
        if start + count * step > ts:
            yield start, start + count * step


KINDS: dict[str, Callable[[datetime], Iterator[Window]]] = {
    "tumble": lambda ts: tumbling(ts, 5 * MINUTE),
    "shifted": lambda ts: tumbling(ts, 5 * MINUTE, -1.5 * MINUTE),
    "hop": lambda ts: hopping(ts, 4 * MINUTE, 10 * MINUTE, MINUTE),
    "cumulate": lambda ts: cumulating(ts, 3 * MINUTE, 9 * MINUTE, 0.5 * MINUTE),
}


def grouped(
    batches: Batches, marks: Watermarks, windows: Callable[[datetime], Iterator[Window]]
) -> Groups:
    """Return the rows of each stream and window that came in time."""
    groups: Groups = defaultdict(list)
    for number, batch in enumerate(batches):
        for row in batch:
            for start, end in windows(row["ts"]) if row["ts"] is not None else ():
                if row["stream"] != LAST and marks.takes(number, end):
                    groups[row["stream"], start, end].append(row)
    return groups


@dataclass
class _Session:
    start: datetime
    end: datetime
    rows: list[Row]


def sessions(batches: Batches, marks: Watermarks) -> Groups:
    """Return the rows of each session; rows may join two sessions that were apart."""
    groups: Groups = {}
    open_: dict[int, list[_Session]] = defaultdict(list)
    for number, batch in enumerate(batches):
        for row in batch:
            ts = row["ts"]
            if ts is not None and row["stream"] != LAST and marks.takes(number, ts + GAP):
                _merge(open_[row["stream"]], _Session(ts, ts + GAP, [row]))
        for stream, found in open_.items():
            for session in [s for s in found if marks.closes(number, s.end)]:
                found.remove(session)
                groups[stream, session.start, session.end] = session.rows
    return groups


def _merge(found: list[_Session], new: _Session) -> None:
    for session in [s for s in found if s.start <= new.end and new.start <= s.end]:
        found.remove(session)
        rows = session.rows + new.rows
        new = _Session(min(session.start, new.start), max(session.end, new.end), rows)
    found.append(new)


def counted(rows: list[Row]) -> dict[str, Any]:
    """Return the number of rows, and the sum of i, NULL of nothing."""
    values = [row["i"] for row in rows if row["i"] is not None]
    return {"n": len(rows), "total": sum(values) if values else None}
