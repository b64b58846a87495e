"""Interval literals: their length, their type and their text for Spark's windows."""

from __future__ import annotations

import re

from ...dsl.ast.expressions import Interval, IntervalPart
from .types import DAY_TIME_UNITS, YEAR_MONTH_UNITS, IntervalType

_MICROS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
_MONTHS = {"MONTH": 1, "YEAR": 12}
_FIELDS = {"MICROSECOND": "SECOND", "MILLISECOND": "SECOND", "WEEK": "DAY"}
_AMOUNT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")


def interval_type(interval: Interval) -> IntervalType | None:
    """Return the type of a literal, None when a unit is unknown or the two families are mixed."""
    fields = [_FIELDS.get(unit, unit) for _, unit in _amounts(interval)]
    for family in (DAY_TIME_UNITS, YEAR_MONTH_UNITS):
        if fields and all(field in family for field in fields):
            places = [family.index(field) for field in fields]
            return IntervalType(family[min(places)], family[max(places)])
    return None


def interval_micros(interval: Interval) -> int | None:
    """Return the length of a literal in microseconds.

    None when it has none: months and years, unknown units, non-numeric amounts, a fraction of a
    unit other than the second, or a part of a microsecond.
    """
    lengths = [_micros(amount, unit) for amount, unit in _amounts(interval)]
    known = [length for length in lengths if length is not None]
    return sum(known) if known and len(known) == len(lengths) else None


def interval_months(interval: Interval) -> int | None:
    """Return the length of a year-month literal in months, None when it is not one."""
    total = 0
    amounts = _amounts(interval)
    for amount, unit in amounts:
        if unit not in _MONTHS or re.fullmatch(r"[+-]?\d+", amount) is None:
            return None
        total += int(amount) * _MONTHS[unit]
    return total if amounts else None


def duration_text(interval: Interval) -> str | None:
    """Return the text for ``withWatermark`` and ``F.window``, in the user's own units.

    ``INTERVAL 90 SECONDS`` is ``90 seconds``, ``INTERVAL '1' HOUR`` is ``1 hour``. None when the
    interval has no fixed length (see ``interval_micros``).
    """
    if interval_micros(interval) is None:
        return None
    return " ".join(_amount_text(amount, unit) for amount, unit in _amounts(interval))


def _amounts(interval: Interval) -> list[tuple[str, str]]:
    """Return amounts with their units; ``'1 12' DAY TO HOUR`` is split."""
    return [pair for part in interval.parts for pair in _taken_apart(part)]


def _taken_apart(part: IntervalPart) -> list[tuple[str, str]]:
    amount = part.amount.strip()
    start, to, end = part.unit.partition(" TO ")
    if not to:
        return [(amount, start)]
    for family, separator in ((DAY_TIME_UNITS, "[ :]"), (YEAR_MONTH_UNITS, "-")):
        if start in family and end in family:
            units = family[family.index(start) : family.index(end) + 1]
            sign = "-" if amount.startswith("-") else ""
            amounts = re.split(separator, amount.lstrip("+-"))
            if len(amounts) == len(units):
                return [(sign + each, unit) for each, unit in zip(amounts, units, strict=True)]
    return []


def _micros(amount: str, unit: str) -> int | None:
    if unit not in _MICROS or _AMOUNT.fullmatch(amount) is None:
        return None
    if "." not in amount:
        return int(amount) * _MICROS[unit]
    whole, _, fraction = amount.lstrip("+-").partition(".")
    if unit != "SECOND" or len(fraction.rstrip("0")) > 6:
        return None
    length = int(whole or 0) * _MICROS[unit] + int(fraction[:6].ljust(6, "0"))
    return -length if amount.startswith("-") else length


def _amount_text(amount: str, unit: str) -> str:
    if "." in amount:
        amount = amount.removeprefix("+").rstrip("0").rstrip(".")
        amount = f"0{amount}" if amount.startswith(".") else amount or "0"
    else:
        amount = str(int(amount))
    return f"{amount} {unit.lower()}{'' if amount in ('1', '-1') else 's'}"


def micros_text(micros: int) -> str:
    """Return a length as the fewest whole units from days down (``1 hour 30 minutes``).

    >>> micros_text(5_400_000_000)
    '1 hour 30 minutes'
    """
    sign, rest = ("-", -micros) if micros < 0 else ("", micros)
    parts: list[str] = []
    for unit in ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"):
        amount, rest = divmod(rest, _MICROS[unit])
        if amount:
            parts.append(f"{sign}{amount} {unit.lower()}{'' if amount == 1 else 's'}")
    return " ".join(parts) or "0 seconds"


def text_micros(text: str) -> int:
    """Return the length that ``duration_text`` or ``micros_text`` has written.

    Raises ValueError for other texts.

    >>> text_micros("1 hour -1.5 seconds")
    3598500000
    """
    words = text.split()
    total = 0
    for amount, unit in zip(words[::2], words[1::2], strict=True):
        length = _micros(amount, unit.upper().removesuffix("S"))
        if length is None:
            raise ValueError(f"{text} is no length")
        total += length
    return total
