"""The temporal joins of ``temporal.stream`` in plain Python: each row tries all versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .streams import Row
from .windows import MINUTE

AGE = 5 * MINUTE


def _version(row: Row, versions: list[Row]) -> Row | None:
    """Return the newest version of a row's key: of one instant the one with the greatest values."""
    known = [
        one
        for one in versions
        if one["stream"] == row["stream"]
        and one["k"] is not None
        and one["k"] == row["k"]
        and one["ts"] <= row["ts"]
    ]
    return max(known, key=lambda v: (v["ts"], v["i"] is not None, v["i"] or 0), default=None)


def latest(row: Row, version: Row | None) -> Row | None:
    """Return what ``latest`` gives for a row."""
    return {**_shown(row), "version": _of(version, "i"), "since": _of(version, "ts")}


def young(row: Row, version: Row | None) -> Row | None:
    """Return what ``young`` gives for a row."""
    if version is not None and row["ts"] - version["ts"] > AGE:
        version = None
    i = _of(version, "i")
    total = None if None in (i, row["i"]) else row["i"] + i
    return {**_shown(row), "version": i, "total": total}


def younger(row: Row, version: Row | None) -> Row | None:
    """Return what ``younger`` gives for a row, None for nothing."""
    if version is None or row["ts"] - version["ts"] >= AGE:
        return None
    if version["i"] is not None and not (row["i"] is not None and row["i"] > 1):
        return None
    return {"stream": row["stream"], "ts": row["ts"], "version": version["i"]}


def _shown(row: Row) -> Row:
    return {"stream": row["stream"], "ts": row["ts"], "i": row["i"]}


def _of(version: Row | None, column: str) -> Any:
    return None if version is None else version[column]


STREAMS: dict[str, Callable[[Row, Row | None], Row | None]] = {
    "latest": latest,
    "young": young,
    "younger": younger,
}


def expected(name: str, rows: list[Row], versions: list[Row]) -> list[Row]:
    """Return what a stream gives."""
    found = (STREAMS[name](row, _version(row, versions)) for row in rows)
    return [row for row in found if row is not None]
