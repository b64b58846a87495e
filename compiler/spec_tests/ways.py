"""The same rows in other micro-batches: the expectations of a test should not depend on these.

A test says which ways it is valid for. Rows never move across what separates them: an expectation,
an advance of a watermark, a restart, a crash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .model import Advance, Crash, Drain, Placed, Restart, Restore, Rollback, Rows, Upgrade

AS_WRITTEN = "as written"
ONE_BATCH = "one batch"
ROW_BY_ROW = "row by row"
RESTARTS = "restarts"
CRASHES = "crashes"
SAVEPOINTS = "savepoints"
WAYS = (AS_WRITTEN, ONE_BATCH, ROW_BY_ROW, RESTARTS, CRASHES, SAVEPOINTS)
"""A micro-batch per step; consecutive steps merged; a micro-batch per row; a micro-batch per row,
with a restart before each; a micro-batch per step, each killed before its commit; a micro-batch per
step, each started from a savepoint of the previous state."""

BATCHES = (Rows, Advance, Drain)
"""Steps that run as a micro-batch."""


def arranged(steps: Iterable[Placed], way: str) -> Iterator[Placed]:
    """Yield the steps of a test for a way of ``WAYS``."""
    if way == AS_WRITTEN:
        yield from steps
    elif way == ONE_BATCH:
        yield from _together(steps)
    elif way == CRASHES:
        yield from _killed(steps)
    elif way == SAVEPOINTS:
        yield from _restored([*steps])
    else:
        yield from _apart(steps, restarts=way == RESTARTS)


def with_crashes(steps: Iterable[Placed]) -> Iterator[tuple[Placed, bool]]:
    """Yield the steps other than crashes, each with whether a crash follows it."""
    found: list[tuple[Placed, bool]] = []
    hit = False
    for placed in reversed([*steps]):
        if isinstance(placed.step, Crash):
            hit = True
        elif isinstance(placed.step, BATCHES):
            found.append((placed, hit))
            hit = False
        else:
            found.append((placed, False))
    yield from reversed(found)


def _killed(steps: Iterable[Placed]) -> Iterator[Placed]:
    for placed in steps:
        if not isinstance(placed.step, Crash):
            yield placed
        if isinstance(placed.step, BATCHES):
            yield Placed(Crash(), placed.number)


def _restored(steps: list[Placed]) -> Iterator[Placed]:
    """Yield the steps with a restore before each batch, except those that are undone later."""
    undone = [
        range(placed.step.first + 1, placed.number)
        for placed in steps
        if isinstance(placed.step, Rollback)
    ]
    begun = False
    for placed in steps:
        if isinstance(placed.step, BATCHES):
            if begun and not any(placed.number in one for one in undone):
                yield Placed(Restore(), placed.number)
            begun = True
        elif isinstance(placed.step, Upgrade):
            begun = False
        yield placed


def _together(steps: Iterable[Placed]) -> Iterator[Placed]:
    waiting: Placed | None = None
    for placed in steps:
        if isinstance(placed.step, Rows) and waiting is not None:
            waiting = Placed(_joined(waiting.step, placed.step), waiting.number)
        elif isinstance(placed.step, Rows):
            waiting = placed
        else:
            if waiting is not None:
                yield waiting
            waiting = None
            yield placed
    if waiting is not None:
        yield waiting


def _joined(first: object, second: Rows) -> Rows:
    lines = dict(first.lines) if isinstance(first, Rows) else {}
    for source, more in second.lines.items():
        lines[source] = (*lines.get(source, ()), *more)
    return Rows(lines)


def _apart(steps: Iterable[Placed], *, restarts: bool) -> Iterator[Placed]:
    begun = False
    for placed in steps:
        if not isinstance(placed.step, Rows):
            yield placed
            continue
        for row in _rows(placed.step):
            if restarts and begun:
                yield Placed(Restart(), placed.number)
            begun = True
            yield Placed(row, placed.number)


def _rows(step: Rows) -> Iterator[Rows]:
    """Yield each row as a step of its own; a step without rows stays one."""
    if not any(step.lines.values()):
        yield step
    for source, lines in step.lines.items():
        for line in lines:
            yield Rows({source: (line,)})
