"""The panes of ``panes.stream`` in plain Python, and the rows that its operators drop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from .streams import LAST, Batches, Row, Watermarks
from .windows import MINUTE, Window, counted, hopping, tumbling

LATENESS = 3 * MINUTE


def shifted(ts: datetime) -> Iterator[Window]:
    """Yield the one window of an instant."""
    yield from tumbling(ts, 5 * MINUTE, -1.5 * MINUTE)


def overlapping(ts: datetime) -> Iterator[Window]:
    """Yield the windows of an instant."""
    yield from hopping(ts, 4 * MINUTE, 10 * MINUTE)


def rows_of(batches: Batches) -> Iterator[tuple[int, Row]]:
    """Yield the rows that have an instant, with the numbers of their batches."""
    for number, batch in enumerate(batches):
        for row in batch:
            if row["ts"] is not None and row["stream"] != LAST:
                yield number, row


def panes(
    batches: Batches, marks: Watermarks, windows: Callable[[datetime], Iterator[Window]]
) -> list[dict[str, Any]]:
    """Return the panes of all windows: on time, and late ones with all rows so far."""
    on_time: dict[Any, list[Row]] = defaultdict(list)
    so_far: dict[Any, list[Row]] = defaultdict(list)
    late: dict[Any, list[Row]] = {}
    for number, row in rows_of(batches):
        for start, end in windows(row["ts"]):
            key = (row["stream"], start)
            if marks.takes(number, end):
                on_time[key].append(row)
            if marks.takes(number, end + LATENESS):
                so_far[key].append(row)
            if marks.takes(number, end + LATENESS) and not marks.takes(number, end):
                late[*key, number] = list(so_far[key])
    found = [(key, "on_time", rows) for key, rows in on_time.items()]
    found += [((stream, start), "late", rows) for (stream, start, _), rows in late.items()]
    return [
        {"stream": key[0], "window_start": key[1], **counted(rows), "pane": pane}
        for key, pane, rows in found
    ]


def late(
    batches: Batches, marks: Watermarks, until: Callable[[datetime], datetime]
) -> list[dict[str, Any]]:
    """Return the rows that a batch does not take, which are in time until an instant."""
    return [
        {"stream": row["stream"], "i": row["i"], "ts": row["ts"], "watermark": marks.missed(number)}
        for number, row in rows_of(batches)
        if not marks.takes(number, until(row["ts"]))
    ]


def last_end(
    windows: Callable[[datetime], Iterator[Window]], after: timedelta
) -> Callable[[datetime], datetime]:
    """Return until when an instant is in time: until its last window is closed for so long."""
    return lambda ts: max(end for _, end in windows(ts)) + after
