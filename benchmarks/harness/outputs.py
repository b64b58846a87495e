"""The rows that the sinks of the shop hold, and how they differ from the right ones."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet

from .oracle import Rows, instant

SINKS = ("copy", "windows", "totals", "pairs")


@dataclass(frozen=True, slots=True)
class Difference:
    """How many rows of a sink are missing, and how many are duplicates or wrong."""

    rows: int
    lost: int
    doubled: int


def difference(found: Rows, right: Rows) -> Difference:
    """Compares what a sink holds with what it should hold."""
    return Difference(found.total(), (right - found).total(), (found - right).total())


def differences(found: Mapping[str, Rows], right: Mapping[str, Rows]) -> dict[str, Difference]:
    """Compares all sinks."""
    return {sink: difference(found[sink], right[sink]) for sink in SINKS}


def rows_in_files(files: Iterable[Path]) -> Rows:
    """The rows of JSON and Parquet files, as a plain reader sees them."""
    return Counter(row for file in files for row in _rows(file))


def rows_in_sqlite(path: Path, batch: int | None = None) -> Rows:
    """The latest totals in the database of the python sink, up to a batch."""
    if not path.exists():
        return Counter()
    latest = "SELECT shop, hour, n, amount, MAX(batch) FROM totals WHERE batch <= ? GROUP BY 1, 2"
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(latest, [2**62 if batch is None else batch])
        return Counter(row[:-1] for row in rows)


def rows_on_server(url: str) -> Rows:
    """The totals in a table of PostgreSQL."""
    import psycopg

    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT shop, hour, n, amount FROM totals").fetchall()
    return Counter((shop, instant(hour), n, int(amount)) for shop, hour, n, amount in rows)


def visible(folder: Path) -> list[Path]:
    """The files of a sink that readers see."""
    return sorted(file for file in folder.glob("*.*") if file.name[0] not in "._")


def _rows(file: Path) -> list[tuple[Any, ...]]:
    if file.suffix == ".json":
        read = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    else:
        read = parquet.read_table(file).to_pylist()
    return [
        tuple(instant(value) if name in _INSTANTS else value for name, value in row.items())
        for row in read
    ]


_INSTANTS = {"at", "window_start", "ordered_at", "paid_at"}
