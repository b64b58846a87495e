"""The parts that EXTRACT and ``date_part`` take from dates, times and intervals."""

from __future__ import annotations

from . import types as t

_SECONDS = t.Decimal(8, 6)
_WORDS = {
    "YEAR": "Y YEARS YR YRS",
    "YEAROFWEEK": "",
    "QUARTER": "QTR",
    "MONTH": "MON MONS MONTHS",
    "WEEK": "W WEEKS",
    "DAY": "D DAYS",
    "DAYOFWEEK": "DOW",
    "DAYOFWEEK_ISO": "DOW_ISO",
    "DOY": "",
    "HOUR": "H HOURS HR HRS",
    "MINUTE": "M MIN MINS MINUTES",
    "SECOND": "S SEC SECONDS SECS",
}
_PARTS = {word: part for part, words in _WORDS.items() for word in (part, *words.split())}
PARTS = tuple(_WORDS)
"""The parts by their full names."""


def part_named(word: str) -> str | None:
    """Return the part that a word in any case stands for (``HOUR`` for ``hrs``), or None."""
    return _PARTS.get(word.upper())


def part_type(part: str, source: t.Type) -> t.Type | None:
    """Return the type of a part of a value, None when values of that type do not have it."""
    if isinstance(source, t.IntervalType):
        if part not in source.units:
            return None
        if part == "SECOND":
            return _SECONDS
        return t.INT if part in ("YEAR", "DAY") else t.TINYINT
    if source in t.DATETIMES or t.is_open(source):
        return _SECONDS if part == "SECOND" else t.INT
    return None
