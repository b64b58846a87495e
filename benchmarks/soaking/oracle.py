"""The right rows of every sink of a soak, by plain Python from all rows that were written.

Instants are microseconds since 1970.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from harness.oracle import Rows

SECOND = 1_000_000
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND
DELAY = 30 * SECOND
Row = Mapping[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(value: str | datetime) -> int:
    """An instant, as text or not, in microseconds since 1970."""
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    since = at - _EPOCH
    return (since.days * 86400 + since.seconds) * SECOND + since.microseconds


class Oracle:
    """What the sinks hold once all of these rows have been read, and the watermark has passed."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = [{**row, "at": micros(row["at"])} for row in rows]
        self._once = list({row["id"]: row for row in self._rows}.values())
        self._watermark = max((row["at"] for row in self._rows), default=0) - DELAY

    def of(self, sink: str) -> Rows:
        """The rows that a sink holds."""
        return _RIGHT[sink](self)

    def copy(self) -> Rows:
        columns = ("id", "kind", "shop", "number", "amount")
        return Counter(
            (*(row[name] for name in columns), _as_text(row["at"])) for row in self._rows
        )

    def windows(self) -> Rows:
        closed = self._watermark - MINUTE
        found = _windows(self._once, MINUTE).items()
        return Counter((*key, *sums) for key, sums in found if key[1] <= closed)

    def totals(self) -> Rows:
        return Counter((*key, *sums) for key, sums in _windows(self._rows, HOUR).items())

    def orders(self) -> Rows:
        return Counter(
            (row["number"], row["shop"], row["amount"], _as_text(row["at"]))
            for row in self._ordered()
        )

    def reminded(self) -> Rows:
        return Counter((row["number"], row["shop"]) for row in self._ordered())

    def pairs(self) -> Rows:
        orders = {row["number"]: row for row in self._ordered()}
        pairs: Rows = Counter()
        for paid in (row for row in self._once if row["kind"] == "payment"):
            order = orders.get(paid["number"])
            if order is not None and 0 <= paid["at"] - order["at"] <= 2 * MINUTE:
                ordered = (order["number"], order["shop"], order["amount"], order["at"])
                pairs[*ordered, paid["amount"], paid["at"]] += 1
        return pairs

    def answers(self) -> Rows:
        """An order's first payment within a minute, or that there was none by its end."""
        of_number: dict[int, list[Row]] = defaultdict(list)
        for row in sorted(self._rows, key=lambda row: row["at"]):
            of_number[row["number"]].append(row)
        return Counter(
            (number, kind, _as_text(at))
            for number, rows in of_number.items()
            for kind, at in _answers(rows)
        )

    def _ordered(self) -> list[Row]:
        return [row for row in self._once if row["kind"] == "order"]


_RIGHT: Mapping[str, Callable[[Oracle], Rows]] = {
    "copy": Oracle.copy,
    "windows": Oracle.windows,
    "windows_shown": Oracle.windows,
    "totals": Oracle.totals,
    "kept": Oracle.totals,
    "table_of_totals": Oracle.totals,
    "pairs": Oracle.pairs,
    "answers": Oracle.answers,
    "reminded": Oracle.reminded,
    "echoes": Oracle.orders,
}


def _as_text(instant: int) -> int:
    """An instant in the form of text files: Spark writes milliseconds there."""
    return instant // 1000 * 1000


def _answers(rows: Iterable[Row]) -> list[tuple[str, int]]:
    found = []
    ordered_at: int | None = None
    for row in rows:
        if ordered_at is not None and row["at"] > ordered_at + MINUTE:
            found.append(("missed", ordered_at + MINUTE))
            ordered_at = None
        if row["kind"] == "order" and ordered_at is None:
            ordered_at = row["at"]
        elif row["kind"] == "payment" and ordered_at is not None:
            found.append(("paid", row["at"]))
            ordered_at = None
    # # The very last row is a day later: every deadline has passed.
    return found if ordered_at is None else [*found, ("missed", ordered_at + MINUTE)]


def _windows(rows: Iterable[Row], size: int) -> dict[tuple[str, int], tuple[int, int]]:
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for row in rows:
        groups[row["shop"], row["at"] // size * size].append(row["amount"])
    return {key: (len(amounts), sum(amounts)) for key, amounts in groups.items()}
