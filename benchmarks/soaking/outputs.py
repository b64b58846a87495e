"""The rows that the sinks of a soak hold; instants are microseconds since 1970."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
from harness.oracle import Rows
from harness.outputs import rows_in_sqlite, rows_on_server, visible

from .oracle import micros

_INSTANTS = {"at", "window_start", "ordered_at", "paid_at", "hour"}
_TEXTS = {"kind", "shop"}
_SHOWN = re.compile(r"windows_shown, batch (\d+):")


def rows_in_folder(folder: Path) -> Rows:
    """The rows of all files that readers of a folder see."""
    return Counter(tuple(row) for file in visible(folder) for row in _READ[file.suffix](file))


def kept_rows(file: Path) -> Rows:
    """The rows of a memory sink, as left by the process: the latest of each key."""
    latest: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for line in file.read_text("utf-8").splitlines() if file.exists() else ():
        row = _plain(json.loads(line))
        latest[row[:2]] = row
    return Counter(latest.values())


def shown_rows(log: Path) -> Rows:
    """The rows of closed windows that a console sink has printed, each batch once."""
    batches: dict[str, list[tuple[Any, ...]]] = {}
    batch: list[tuple[Any, ...]] = []
    for line in log.read_text("utf-8", errors="replace").splitlines():
        begins = _SHOWN.match(line)
        if begins:
            batch = batches[begins[1]] = []
        elif line.startswith("|"):
            shop, start, n, amount = (cell.strip() for cell in line.strip("|").split("|"))
            if shop != "shop":
                batch.append((shop, micros(start), int(n), int(amount)))
    return Counter(row for rows in batches.values() for row in rows)


def totals_in_sqlite(path: Path) -> Rows:
    """The latest totals of the python sink."""
    return _finer(rows_in_sqlite(path))


def totals_on_server(url: str) -> Rows:
    """The totals in the table of a server."""
    return _finer(rows_on_server(url))


def _finer(rows: Rows) -> Rows:
    """The same totals with their hours in microseconds."""
    return Counter(
        {(shop, hour * 1000, *sums): count for (shop, hour, *sums), count in rows.items()}
    )


def _plain(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(micros(value) if name in _INSTANTS else value for name, value in row.items())


def _json(file: Path) -> Iterator[tuple[Any, ...]]:
    return map(_plain, map(json.loads, file.read_text("utf-8").splitlines()))


def _parquet(file: Path) -> Iterator[tuple[Any, ...]]:
    return map(_plain, parquet.read_table(file).to_pylist())


def _csv(file: Path) -> Iterator[tuple[Any, ...]]:
    with file.open(encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened):
            yield _plain({name: _value(name, text) for name, text in row.items()})


def _value(name: str, text: str) -> Any:
    return text if name in _INSTANTS or name in _TEXTS else int(text)


_READ = {".json": _json, ".parquet": _parquet, ".csv": _csv}
