"""Sinks in memory: repeated batches, and what is left of those that were undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamc.runtime.connectors.captures import CapturingSink, Contradiction, difference
from streamc.runtime.stepping.state import committed, undo_batches


@pytest.mark.parametrize(
    ("first", "again", "told"),
    [
        (['{"a":1}', '{"a":2}'], ['{"a":2}', '{"a":1}'], ([], [])),
        (['{"a":1}', '{"a":1}'], ['{"a":1}'], (['{"a":1}'], [])),
        (['{"a":1}'], ['{"a":"1"}'], (['{"a":1}'], ['{"a":"1"}'])),
        (['{"a":0.30000000000000004}'], ['{"a":0.3}'], ([], [])),
        (
            ['{"a":[{"b":0.31}]}'],
            ['{"a":[{"b":0.3}]}'],
            (['{"a":[{"b":0.31}]}'], ['{"a":[{"b":0.3}]}']),
        ),
        (
            ['{"a":10000000001}'],
            ['{"a":10000000002}'],
            (['{"a":10000000001}'], ['{"a":10000000002}']),
        ),
        (['{"a":true}'], ['{"a":1}'], (['{"a":true}'], ['{"a":1}'])),
    ],
)
def test_rows_are_compared_as_a_bag(
    first: list[str], again: list[str], told: tuple[list[str], list[str]]
) -> None:
    assert difference(first, again) == told


class Sink(CapturingSink):
    """A capture that gets rows as text."""

    def give(self, batch: int, *values: int) -> None:
        self._add([f'{{"a":{value}}}' for value in values], batch)

    def taken(self) -> list[int]:
        return [row["a"] for row in self.take()]


def test_a_batch_that_comes_again_is_left_out() -> None:
    sink = Sink("s")
    sink.give(0, 1, 2)
    sink.give(1, 3)
    sink.give(1, 3)
    assert sink.contradiction is None
    assert sink.taken() == [1, 2, 3]
    sink.give(1, 4)
    assert sink.contradiction == Contradiction("s", 1, ('{"a":3}',), ('{"a":4}',))
    assert sink.taken() == []


@pytest.mark.parametrize(
    ("again", "complete", "contradicted"),
    [
        ([2, 3], True, None),
        ([3, 2], True, None),
        ([2], True, ([3], [])),
        ([2], False, None),
        ([2, 3, 3], True, ([], [3])),
        ([2, 4], False, ([3], [4])),
    ],
)
def test_what_was_undone_has_to_come_again(
    again: list[int], complete: bool, contradicted: tuple[list[int], list[int]] | None
) -> None:
    sink = Sink("s")
    sink.give(0, 1)
    sink.give(1, 2)
    assert sink.taken() == [1, 2]
    sink.give(2, 3)
    sink.undo(1)
    for batch, value in enumerate(again, 1):
        sink.give(batch, value)
    sink.redone(complete=complete)
    if contradicted is None:
        assert sink.contradiction is None
    else:
        first, second = (tuple(f'{{"a":{v}}}' for v in values) for values in contradicted)
        assert sink.contradiction == Contradiction("s", None, first, second)
    # Rows that were not taken yet are there once, however often they came.
    assert sink.taken() == [3]


def test_what_is_held_back_may_come_later() -> None:
    sink = Sink("s")
    sink.give(0, 1, 2)
    sink.undo(0)
    sink.give(0, 1)
    sink.redone(complete=False)
    sink.give(1, 2, 5)
    sink.redone(complete=True)
    assert (sink.contradiction, sink.taken()) == (None, [1, 2, 5])
    sink.undo(1)
    sink.give(1, 5)
    sink.redone(complete=False)
    assert sink.contradiction is None
    sink.redone(complete=True)
    assert sink.contradiction == Contradiction("s", None, ('{"a":2}',), ())


def test_undone_batches_leave_nothing_behind(tmp_path: Path) -> None:
    checkpoint = tmp_path / "queries" / "q"
    kept = ["metadata", "offsets/0", "offsets/1", "commits/0", "commits/1", "state/0/0/1.delta"]
    kept += ["state/0/0/2.delta", "state/0/0/2.snapshot", "state/0/_metadata/metadata"]
    gone = ["offsets/2", "offsets/.2.crc", "commits/2", "state/0/0/3.delta", "state/0/1/4.zip"]
    for name in [*kept, *gone]:
        (checkpoint / name).parent.mkdir(parents=True, exist_ok=True)
        (checkpoint / name).touch()
    assert committed(str(tmp_path), "q") == 2
    undo_batches(str(tmp_path), {"q": 2})
    left = [path for path in checkpoint.rglob("*") if path.is_file()]
    assert sorted(left) == sorted(checkpoint / name for name in kept)
    assert committed(str(tmp_path), "q") == 1
    undo_batches(str(tmp_path), {"q": 0})
    assert committed(str(tmp_path), "q") == -1 and not checkpoint.exists()
