"""The right rows of every sink of the shop, by plain Python from its input files."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Rows = Counter[tuple[Any, ...]]
"""Rows as tuples in the order of the columns, instants in milliseconds; how often each occurs."""

DELAY = 30_000
MINUTE, HOUR = 60_000, 3_600_000
PATIENCE = 2 * MINUTE


def expected(files: Iterable[Path]) -> Mapping[str, Rows]:
    """What the sinks hold once exactly these files have been read, and the watermark has passed."""
    events = read_events(files)
    watermark = max((event["at"] for event in events), default=0) - DELAY
    windows = {
        key: row for key, row in _windows(events, MINUTE).items() if key[1] + MINUTE <= watermark
    }
    return {
        "copy": Counter(tuple(event.values()) for event in events),
        "windows": Counter((*key, *row) for key, row in windows.items()),
        "totals": Counter((*key, *row) for key, row in _windows(events, HOUR).items()),
        "pairs": _pairs(events),
    }


def read_events(files: Iterable[Path]) -> list[dict[str, Any]]:
    """The events of input files; an instant is its milliseconds since 1970."""
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return [{**event, "at": instant(event["at"])} for event in map(json.loads, lines)]


def instant(value: str | datetime) -> int:
    """An instant, as text or not, in milliseconds since 1970."""
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return round(at.timestamp() * 1000)


def _windows(events: list[dict[str, Any]], size: int) -> dict[tuple[str, int], tuple[int, int]]:
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for event in events:
        groups[event["shop"], event["at"] // size * size].append(event["amount"])
    return {key: (len(amounts), sum(amounts)) for key, amounts in groups.items()}


def _pairs(events: list[dict[str, Any]]) -> Rows:
    orders = {event["number"]: event for event in events if event["kind"] == "order"}
    pairs: Rows = Counter()
    for payment in (event for event in events if event["kind"] == "payment"):
        order = orders.get(payment["number"])
        if order is not None and 0 <= payment["at"] - order["at"] <= PATIENCE:
            ordered = (order["number"], order["shop"], order["amount"], order["at"])
            pairs[*ordered, payment["amount"], payment["at"]] += 1
    return pairs
