"""Marked parts of a state, whose values are incomplete, as lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .columns import moment, watermark

if TYPE_CHECKING:
    from ...contracts.notes.marks import Mark


def mark_lines(marks: Iterable[Mark]) -> Iterator[str]:
    """Yield a line for each mark: since when, why, and until which watermark."""
    for mark in marks:
        since = moment(datetime.fromisoformat(mark.since).astimezone(UTC))
        until = (
            "" if mark.until_ms is None else f", until the watermark is {watermark(mark.until_ms)}"
        )
        yield f"marked: {mark.part}, since {since}{until}: {mark.reason}"
