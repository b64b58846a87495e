"""A sink that keeps its rows, and notices when a repeated batch gives others.

Rows are compared as a bag: their order does not matter, and a number with a point may differ in its
last digits, since sums of such numbers depend on the order in which they are added.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.options import quoted
from .interface import UnownedSink

if TYPE_CHECKING:
    from decimal import Decimal

    from pyspark.sql import DataFrame

_ROWS = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
_LAST_DIGITS = 1e-9


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The rows that a sink got only the first time, and those that it got only the second time.

    `batch` is the number of the batch, None when several were to give the same rows together.
    """

    sink: str
    batch: int | None
    first: tuple[str, ...]
    again: tuple[str, ...]


class CapturingSink(UnownedSink):
    """Keeps the rows of every batch as JSON until they are taken.

    It gets a batch like the sinks of a run, most of which read it more than once. A repeated batch
    is left out, as a sink of files does. The first difference between the two is `contradiction`.
    """

    reads_batch_once = False
    runs_users_code = False
    upsert = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.contradiction: Contradiction | None = None
        self._rows: list[str] = []
        self._batches: dict[int, list[str]] = {}
        self._owed: list[str] = []
        self._other: list[str] | None = None

    def write(self, batch: DataFrame, batch_id: int) -> int:
        found = json_rows(batch)
        self._add(found, batch_id)
        return len(found)

    def kept_rows(self) -> None:
        """Those who feed the pipeline take them."""

    def take(self) -> list[dict[str, Any]]:
        rows, self._rows = self._rows, []
        return [parsed(row) for row in rows]

    def hand_on(self) -> Sequence[str]:
        """The rows that were not yet taken, in a form from which another sink can start."""
        return tuple(self._rows)

    def begin(self, rows: Sequence[str]) -> None:
        """Starts with these rows, before those of any batch."""
        self._rows = [*rows, *self._rows]

    def undo(self, batch: int) -> None:
        """The batches starting at this one will run again; their rows are not returned twice."""
        for number in sorted(number for number in self._batches if number >= batch):
            self._owed += self._batches.pop(number)
        self._other = []

    def redone(self, *, complete: bool) -> None:
        """The batches that were undone have run again: other rows than theirs contradict them.

        Unless `complete`, some of their rows may still be held back, and arrive later.
        """
        other, self._other = self._other or [], None
        missing = self._owed if complete or other else []
        if other or missing:
            self._contradict(None, missing, other)
            self._owed = []

    def _add(self, found: list[str], batch: int) -> None:
        if batch in self._batches:
            first, again = difference(self._batches[batch], found)
            if first or again:
                self._contradict(batch, first, again)
            return
        self._batches[batch] = found
        self._owed, new = difference(self._owed, found)
        if self._other is None:
            self._rows += new
        else:
            self._other += new

    def _contradict(self, batch: int | None, first: Sequence[str], again: Sequence[str]) -> None:
        if self.contradiction is None:
            self.contradiction = Contradiction(self.name, batch, tuple(first), tuple(again))


def json_rows(frame: DataFrame) -> list[str]:
    """The rows of a frame, each as JSON with every column."""
    from pyspark.sql import functions as F

    columns = [F.col(quoted(column)) for column in frame.columns]
    return [row[0] for row in frame.select(F.to_json(F.struct(*columns), _ROWS)).collect()]


def difference(first: Sequence[str], second: Sequence[str]) -> tuple[list[str], list[str]]:
    """The rows that only the first has, and those that only the second has, in their order."""
    left = _without(first, Counter(second))
    right = _without(second, Counter(first))
    if not left or not right:
        return left, right
    rest = [(row, parsed(row)) for row in right]
    alone = []
    for row in left:
        value = parsed(row)
        place = next((n for n, (_, other) in enumerate(rest) if _close(value, other)), None)
        if place is None:
            alone.append(row)
        else:
            del rest[place]
    return alone, [row for row, _ in rest]


def _without(rows: Sequence[str], others: Counter[str]) -> list[str]:
    left = []
    for row in rows:
        if others[row] > 0:
            others[row] -= 1
        else:
            left.append(row)
    return left


def parsed(row: str) -> dict[str, Any]:
    """A row of JSON with numbers that have a point as `Decimal`."""
    from decimal import Decimal

    found: dict[str, Any] = json.loads(row, parse_float=Decimal)
    return found


def _close(one: Any, other: Any) -> bool:
    """Whether two values are equal except for the last digits of numbers with a point."""
    from decimal import Decimal

    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return _near(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_close, one, other))
    return type(one) is type(other) and bool(one == other)


def _near(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= _LAST_DIGITS * max(1.0, abs(float(one)))
