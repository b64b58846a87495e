"""The input of the shop: orders and payments, out of order within the watermark's delay."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(seconds=10)
"""By how much the event time advances from file to file."""

DISORDER = timedelta(seconds=25)
"""How much later an event may be; less than the delay of the watermark, so none is ever late."""

ROWS = 12
SHOPS = ("harbour", "market", "station")
_FIRST_ARRIVAL = 1_700_000_000


def events(seed: int, number: int, count: int = ROWS) -> list[dict[str, object]]:
    """The events of one file: half of them orders, half payments of these or earlier orders."""
    rng = random.Random(f"{seed}-{number}")
    rows: list[dict[str, object]] = []
    for place in range(count):
        paying = place % 2 == 1
        # Payments look back over 150 s, the join over 120: some find no order.
        order = max(0, number - rng.randrange(16)) if paying else number
        rows.append(
            {
                "id": number * count + place,
                "kind": "payment" if paying else "order",
                "shop": rng.choice(SHOPS),
                "number": order * count + (rng.randrange(0, count, 2) if paying else place),
                "amount": rng.randrange(1, 1_000_000),
                "at": _text(START + number * STEP - rng.random() * DISORDER),
            }
        )
    return rows


def closing(number: int) -> dict[str, object]:
    """An event so much later that the watermark closes every window before it."""
    at = START + number * STEP + timedelta(days=1)
    return {"id": -1, "kind": "end", "shop": "none", "number": -1, "amount": 0, "at": _text(at)}


def json_lines(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Rows as the bytes of a file, one JSON object per line."""
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


class Writer:
    """Adds files to a folder, each atomically, in an order that Spark follows.

    `encode` makes the content of a file from its rows; its name ends with the `suffix`.
    """

    def __init__(
        self,
        folder: Path,
        seed: int,
        encode: Callable[[Sequence[Mapping[str, object]]], bytes] = json_lines,
        suffix: str = "json",
    ) -> None:
        self.folder = folder
        self._seed = seed
        self._encode = encode
        self._suffix = suffix
        folder.mkdir(parents=True, exist_ok=True)
        self.written = len(list(folder.glob(f"[0-9]*.{suffix}")))

    def add(self, files: int = 1) -> None:
        """Writes the next files."""
        for _ in range(files):
            self.write(events(self._seed, self.written))

    def up_to(self, files: int) -> None:
        """Writes files until there are that many."""
        self.add(max(0, files - self.written))

    def close(self) -> None:
        """Writes the last file, after which no window stays open."""
        self.write([closing(self.written)])

    def write(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Adds a file of these rows."""
        path = self.folder / f"{self.written:06d}.{self._suffix}"
        hidden = path.with_name(f"_{path.name}")
        hidden.write_bytes(self._encode(rows))
        os.utime(hidden, (_FIRST_ARRIVAL + self.written,) * 2)
        hidden.rename(path)
        self.written += 1


def _text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
