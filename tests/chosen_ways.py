"""Which of the ways in which a case's rows can arrive `make test` tries; the others are long.

Of each file of tests one case is run, as it is written or in a hard way for its kind. The names of
the files say which: all files together go through all ways, and the same ones at every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar
from zlib import crc32

from streamc.cli.testing.load import Test
from streamc.compiler.spec_tests.model import Rows
from streamc.compiler.spec_tests.ways import AS_WRITTEN, CRASHES, RESTARTS, ROW_BY_ROW

T = TypeVar("T")

_FEW_ROWS = 10
"""That many rows may arrive singly: each is a batch or two, and a restart before it a second."""
_FEW_STEPS = 20
"""In that many steps each batch may be killed and rerun."""


def turn(name: str, choices: Sequence[T]) -> T:
    """The choice for a case of this name."""
    return choices[crc32(name.encode()) % len(choices)]


def one_of_each_file(tests: Iterable[Test]) -> list[Test]:
    """One case of each file: as written, killed, restarted or row by row, if it is meant for that.

    A file holds cases of one spec, most of them of the same rows for another way of arrival.
    """
    files: dict[str, dict[int, dict[str, Test]]] = {}
    for test in tests:
        cases = files.setdefault(test.source.name, {})
        cases.setdefault(test.case.span.start, {})[test.way] = test
    return [_of_a_file(name, [*cases.values()]) for name, cases in files.items()]


def _of_a_file(name: str, cases: Sequence[Mapping[str, Test]]) -> Test:
    case = turn(name, [ways for ways in cases if _hard(ways)] or cases)
    written = [case[AS_WRITTEN]] if AS_WRITTEN in case else []
    return turn(name, [*written, *_hard(case)] or [*case.values()])


def _hard(ways: Mapping[str, Test]) -> list[Test]:
    any_way = next(iter(ways.values()))
    apart = (ROW_BY_ROW, RESTARTS) if _rows(any_way) <= _FEW_ROWS else ()
    killed = (CRASHES,) if len(any_way.case.steps) <= _FEW_STEPS else ()
    return [ways[way] for way in (*apart, *killed) if way in ways]


def _rows(test: Test) -> int:
    steps = [placed.step for placed in test.case.steps]
    return sum(len(lines) for one in steps if isinstance(one, Rows) for lines in one.lines.values())
