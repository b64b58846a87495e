"""The input of a soak: small files at random intervals, with duplicate rows."""

from __future__ import annotations

import csv
import io
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
from harness.events import Writer, closing, events, json_lines

Row = Mapping[str, object]
ROWS = 200
_AGAIN = 10
"""That many rows of a file are repeated in the next one."""

_SCHEMA = arrow.schema(
    [
        ("id", arrow.int64()),
        ("kind", arrow.string()),
        ("shop", arrow.string()),
        ("number", arrow.int64()),
        ("amount", arrow.int64()),
        ("at", arrow.timestamp("us", tz="UTC")),
    ]
)


class Feeder:
    """Writes files in turn into a folder for each format, in a thread between `start` and `stop`.

    `interval` is the mean of the seconds between two files; now and then there is a pause, in which
    a job settles, or several arrive at once. The same seed gives the same rows and intervals; none
    arrives while `goes_on` returns False.
    """

    def __init__(
        self,
        folder: Path,
        seed: int,
        formats: Sequence[str] = ("json",),
        interval: float = 0.5,
        rows: int = ROWS,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self.formats = tuple(formats)
        self._seed = seed
        self._rows = rows
        self._interval = interval
        self._goes_on = goes_on
        self._writers = [
            Writer(folder / format, seed, _ENCODE[format], format) for format in formats
        ]
        self._rng = random.Random(f"intervals {seed}")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def written(self) -> int:
        """The number of files."""
        return sum(writer.written for writer in self._writers)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends with whole files."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def close(self) -> None:
        """Writes a last file of each format, after which no window stays open."""
        self.stop()
        last = closing(self.written)
        for writer in self._writers:
            writer.write([last])

    def all_rows(self) -> list[Row]:
        """All rows that were written, with duplicates."""
        closed = self._stopped.is_set()
        files = self.written - (len(self._writers) if closed else 0)
        found = [row for number in range(files) for row in rows_of(self._seed, number, self._rows)]
        return [*found, *([closing(files)] * len(self._writers) if closed else [])]

    def _run(self) -> None:
        while not self._stopped.wait(self._pause()):
            files = self._rng.choice((3, 5)) if self._rng.random() < 0.02 else 1
            if self._goes_on():
                self.add(files)

    def add(self, files: int = 1) -> None:
        """Writes the next files at once."""
        for _ in range(files):
            number = self.written
            writer = self._writers[number % len(self._writers)]
            writer.write(rows_of(self._seed, number, self._rows))

    def _pause(self) -> float:
        if self._rng.random() < 0.01:
            return self._rng.uniform(2, 6)
        return self._interval * self._rng.uniform(0.4, 1.6)


def rows_of(seed: int, number: int, rows: int = ROWS) -> list[Row]:
    """The rows of a file, and some of the previous file's again.

    No two rows that differ have the same instant: the order of their ids is that of equal
    milliseconds.
    """
    own = [_apart(row) for row in events(seed, number, rows)]
    before = [_apart(row) for row in events(seed, number - 1, rows)] if number else []
    again = random.Random(f"again {seed}-{number}").sample(before, min(_AGAIN, len(before)))
    return [*own, *again]


def _apart(row: Mapping[str, Any]) -> Row:
    return {**row, "at": f"{row['at'][:-1]}{row['id'] % 1000:03d}Z"}


def _csv(rows: Sequence[Row]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, _SCHEMA.names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _parquet(rows: Sequence[Row]) -> bytes:
    instants = [{**row, "at": datetime.fromisoformat(str(row["at"]))} for row in rows]
    file = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(instants, _SCHEMA), file)
    return file.getvalue()


_ENCODE = {"json": json_lines, "csv": _csv, "parquet": _parquet}
