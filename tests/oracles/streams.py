"""Streams made by Hypothesis, many in one run of Spark: each is known by its number.

A stream is a list of steps: a row, or None for a batch without one. All streams take their first
step together, then their second, and so on; the instants move on with the steps, with a jitter that
makes disorder. A last row far in the future closes what is open.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

Row = dict[str, Any]
Batches = list[list[Row]]
T = TypeVar("T")

BASE = datetime(2026, 1, 1, 10, tzinfo=UTC)
END = BASE + timedelta(days=1)
STEP = timedelta(minutes=4)
LAST = -1
"""The stream of the rows that close all others; what it gives is not looked at."""

offsets = st.one_of(st.integers(-20, 20), st.sampled_from([0, 1, 1, -20])).map(
    lambda halves: timedelta(seconds=30 * halves)
)
"""Jitter in halves of a minute: ties are likely."""
doubles = st.sampled_from([0.0, 0.5, -1.0, 2.25, 8.0])
"""Sums of these are exact, in whichever order they are added up."""


def made(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """Return examples of a strategy, the same ones at every call."""
    found: list[T] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: T) -> None:
        found.append(example)

    collect()
    return found


def steps_of(row: st.SearchStrategy[Row], most: int) -> st.SearchStrategy[list[Row | None]]:
    """Return the strategy of a stream of at most so many steps."""
    return st.lists(st.one_of(st.none(), row, row, row), min_size=1, max_size=most)


def packed(streams: list[list[Row | None]], last: Row) -> Batches:
    """Return the rows of all streams, a batch a step, with an empty one, and the closing row.

    ``offset`` of a row becomes ``ts``: the instant of its step, shifted; None stays None.
    """
    batches: Batches = []
    for number in range(max(len(stream) for stream in streams)):
        batch: list[Row] = []
        for key, stream in enumerate(streams):
            row = stream[number] if number < len(stream) else None
            if row is not None:
                batch.append({"stream": key, **_placed(row, number)})
        batches.append(batch)
    batches.insert(len(batches) // 2, [])
    return [*batches, [{"stream": LAST, **last, "ts": END}]]


def _placed(row: Row, step: int) -> Row:
    values = {name: value for name, value in row.items() if name != "offset"}
    offset = row["offset"]
    return {**values, "ts": None if offset is None else BASE + step * STEP + offset}


class Watermarks:
    """What Spark's watermark is in each batch: which rows are late, and which groups close.

    A batch drops what was closed in the batch before it, and closes by the rows of the batches
    before it. ``idle`` says that a batch without rows follows each, as it does where a run ends.
    """

    def __init__(self, batches: Batches, delay: timedelta, *, idle: bool) -> None:
        self._late: list[datetime] = []
        self._closed: list[datetime] = []
        before = seen = datetime.min.replace(tzinfo=UTC) + delay
        for batch in batches:
            self._late.append((seen if idle else before) - delay)
            before = seen
            seen = max([seen, *(row["ts"] for row in batch if row["ts"] is not None)])
            self._closed.append((seen if idle else before) - delay)
        self._closed[-1] = seen - delay

    def missed(self, number: int) -> datetime:
        """Return the watermark by which rows of a batch are late."""
        return self._late[number]

    def takes(self, number: int, end: datetime) -> bool:
        """Return whether a batch takes rows of a window that ends at an instant."""
        return end > self._late[number]

    def closes(self, number: int, end: datetime) -> bool:
        """Return whether a window that ends at an instant is closed behind a batch."""
        return end <= self._closed[number]


def rounded(value: Any) -> Any:
    """Return a value in which a DOUBLE has as many digits as two ways to compute it agree on."""
    match value:
        case float():
            return round(value, 9) + 0.0
        case list():
            return [rounded(one) for one in value]
        case dict():
            return {name: rounded(one) for name, one in value.items()}
    return value


def values() -> st.SearchStrategy[Row]:
    """Return rows with a value of each kind, each of which may be NULL."""

    def nullable(some: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(st.none(), some, some, some)

    cents = st.integers(-300, 300).map(lambda n: Decimal(n) / 100)
    return st.fixed_dictionaries(
        {
            "i": nullable(st.integers(-3, 3)),
            "n": nullable(st.integers(0, 100)),
            "d": nullable(doubles),
            "e": nullable(doubles),
            "m": nullable(cents),
            "s": nullable(st.sampled_from(["a", "b", "ab", "", "ü"])),
            "b": nullable(st.booleans()),
            "offset": st.one_of(offsets, offsets, offsets, offsets, st.none()),
        }
    )
