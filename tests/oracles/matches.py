"""The patterns of ``matches.stream`` by brute force: each way to match, in the order of preference.

A pattern is a nested tuple: a variable, ``("then", a, b)``, ``("or", a, b)``, or ``("times", a,
least, most, greedy)``. A match is a list of rows with their variables. From each row on all ways to
match are gone through, the preferred ones first, until one is a match.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from .streams import Row

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
