"""Which of the ways in which a case's rows can arrive `make test` tries; the others are long.

Each case is run in one way, a hard one for its kind, and which of them its name says: all cases
together go through all ways, and the same ones at every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar
from zlib import crc32

from streamc.cli.testing.load import Test
from streamc.compiler.spec_tests.model import Rows
from streamc.compiler.spec_tests.ways import CRASHES, RESTARTS, ROW_BY_ROW

T = TypeVar("T")

_FEW_ROWS = 10
"""So many rows may come one by one: each is a batch or two, and a restart before it a second."""
_FEW_STEPS = 20
"""In so many steps each batch may be killed, and run again."""


def turn(name: str, choices: Sequence[T]) -> T:
    """The one of some choices whose turn it is for a case of this name."""
    return choices[crc32(name.encode()) % len(choices)]


def one_way_each(tests: Iterable[Test]) -> list[Test]:
    """Each case of files of tests once: killed, restarted or row by row if that is meant for it."""
    cases: dict[tuple[str, int], dict[str, Test]] = {}
    for test in tests:
        cases.setdefault((test.source.name, test.case.span.start), {})[test.way] = test
    return [_chosen(ways) for ways in cases.values()]


def _chosen(ways: Mapping[str, Test]) -> Test:
    any_way = next(iter(ways.values()))
    apart = (ROW_BY_ROW, RESTARTS) if _rows(any_way) <= _FEW_ROWS else ()
    killed = (CRASHES,) if len(any_way.case.steps) <= _FEW_STEPS else ()
    hard = [ways[way] for way in (*apart, *killed) if way in ways]
    return turn(any_way.case.name or any_way.source.name, hard or [any_way])


def _rows(test: Test) -> int:
    steps = [placed.step for placed in test.case.steps]
    return sum(len(lines) for one in steps if isinstance(one, Rows) for lines in one.lines.values())
