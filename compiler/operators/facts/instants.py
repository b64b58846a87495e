"""Instants and durations in words, and the examples that explanations use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ...model.schema import Duration
from ...model.steps import Window

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = datetime(2026, 1, 1, tzinfo=UTC)
EXAMPLE = int((_DAY + timedelta(hours=10) - _EPOCH) / timedelta(microseconds=1))
"""Ten o'clock of a day, in microseconds."""

_UNITS = (
    ("week", 604_800_000_000),
    ("day", 86_400_000_000),
    ("hour", 3_600_000_000),
    ("minute", 60_000_000),
    ("second", 1_000_000),
    ("millisecond", 1_000),
    ("microsecond", 1),
)


def instant(micros: int) -> str:
    """Return an instant as a time on the example's day, with the date if on another."""
    found = _EPOCH + timedelta(microseconds=micros)
    time = f"{found:%H:%M:%S.%f}".rstrip("0").rstrip(".") if found.microsecond else ""
    time = time or f"{found:%H:%M:%S}".removesuffix(":00")
    return time if found.date() == _DAY.date() else f"{found:%Y-%m-%d} {time}"


def length(micros: int) -> str:
    """Return a duration in units that divide it: ``1 hour 30 minutes``."""
    words: list[str] = []
    for unit, size in _UNITS[1:]:
        count, micros = divmod(micros, size)
        if count:
            words.append(f"{count} {unit}{'s' if count > 1 else ''}")
    return " ".join(words) or "0 seconds"


def window_of(window: Window, at: int) -> tuple[int, int]:
    """Return start and end of the first window that holds an instant (of a session: of its row)."""
    if window.kind == "session":
        return at, at + window.size.micros
    every = _slide(window)
    offset = window.offset.micros if window.offset is not None else 0
    if window.kind == "cumulate":
        # It begins where the largest of its windows begins, and ends after the step of the row.
        start = _floor(at - offset, window.size.micros) + offset
        return start, start + _floor(at - start, every) + every
    start = _floor(at - window.size.micros - offset, every) + every + offset
    return start, start + window.size.micros


def _slide(window: Window) -> int:
    slide: Duration = window.slide or window.size
    return slide.micros


def _floor(micros: int, size: int) -> int:
    return micros - micros % size
