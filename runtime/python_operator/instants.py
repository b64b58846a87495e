"""Points in time: Spark's microseconds since 1970, and datetimes with the time zone UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

FIRST_MS, LAST_MS = -9223372036854775, 9223372036854775
"""The first and the last instant, in milliseconds (`kernel/operators/Watermarks.scala`)."""

FAR_MS = 253370764800000
"""The value shown for a watermark that has passed all rows: arithmetic on it does not overflow."""

POLLED = (FIRST_MS - 1, FIRST_MS - 2)
"""Instants for waking a key in every epoch: Spark removes a fired timer; the next must differ."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Clock:
    """The time of an epoch in microseconds: the clock's, and the watermark's if there is one."""

    now: int = 0
    watermark: int | None = None


def in_utc(moment: datetime) -> datetime:
    """The moment in UTC; without a time zone it is one of UTC, as in a session."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def micros_of(moment: datetime) -> int:
    """The microseconds of a moment."""
    return (in_utc(moment) - EPOCH) // _MICROSECOND


def wake(micros: int) -> int:
    """The first millisecond that is not before an instant."""
    return -(-micros // 1000)


def moment_of(micros: int) -> datetime:
    """The moment; what a datetime can't hold, such as a drained watermark, is the last one it can.

    >>> moment_of(1_500_000).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return _LAST if micros > 0 else _FIRST
