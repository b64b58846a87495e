"""Durations in plans."""

from __future__ import annotations

from ...model.intervals import text_micros


def micros(text: str | None) -> int:
    """Return the microseconds of a duration, 0 for no text.

    >>> micros("1 hour 30 minutes")
    5400000000
    """
    return 0 if text is None else text_micros(text)
