"""Durations in plans."""

from __future__ import annotations

import re

from ....dsl.ast.expressions import Interval
from ....dsl.format import sql

_PAIR = re.compile(r"(-?\d+(?:\.\d+)?)\s+([a-z]+)")
_SECOND = 1_000_000
_UNITS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": _SECOND,
    "minute": 60 * _SECOND,
    "hour": 3_600 * _SECOND,
    "day": 86_400 * _SECOND,
    "week": 7 * 86_400 * _SECOND,
}


def micros(text: str | None) -> int:
    """Return the microseconds of a duration, None for no text.

    >>> micros("1 hour 30 minutes")
    5400000000
    """
    return sum(
        round(float(number) * _UNITS[unit.removesuffix("s")])
        for number, unit in _PAIR.findall((text or "").lower())
    )


def spelled(interval: Interval) -> str:
    """Return an interval as plans spell lengths: `1 hour`."""
    return sql(interval).removeprefix("INTERVAL ").lower()


def interval_micros(interval: Interval) -> int:
    """Return the microseconds of an interval of a fixed length."""
    return micros(spelled(interval))
