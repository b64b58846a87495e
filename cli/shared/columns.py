"""Tables as plain lines, for terminals and for pipes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from ...contracts.terminal import one_line


class Output(StrEnum):
    """How a command prints its result."""

    TEXT = "text"
    JSON = "json"


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return rows as lines; the first `left` columns are aligned left, the others right.

    Characters that would break a line or control a terminal are escaped.

    >>> aligned([("query", "rows"), ("per_minute", "7")])
    ['query       rows', 'per_minute     7']
    """
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return [
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def moment(instant: datetime | None) -> str:
    """Return an instant in UTC, to the second; nothing for None."""
    return "" if instant is None else f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def watermark(milliseconds: int) -> str:
    """Return a watermark in readable form; 0 is none.

    >>> watermark(0), watermark(-1000), watermark(9223372036854775)
    ('none', '1969-12-31 23:59:59', 'after all rows')
    """
    if milliseconds == 0:
        return "none"
    try:
        return moment(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds))
    except OverflowError:
        return "after all rows" if milliseconds > 0 else "before all rows"


def size(number: int) -> str:
    """Return a number of bytes in the unit that suits it.

    >>> size(912), size(2048), size(5 * 1024 * 1024)
    ('912 B', '2.0 KiB', '5.0 MiB')
    """
    value, units = float(number), ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{number} B" if units[0] == "B" else f"{value:.1f} {units[0]}"
