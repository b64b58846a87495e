"""The same rows in other micro-batches: what a test expects should not depend on it.

A test says which ways it holds for. Rows never pass what stands between them: an expectation, an
advance of a watermark, a restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .model import Placed, Restart, Rows

AS_WRITTEN = "as written"
ONE_BATCH = "one batch"
ROW_BY_ROW = "row by row"
RESTARTS = "restarts"
WAYS = (AS_WRITTEN, ONE_BATCH, ROW_BY_ROW, RESTARTS)
"""As many micro-batches as there are steps; steps in a row put together; each row by itself; each
row by itself and a restart before it."""


def arranged(steps: Iterable[Placed], way: str) -> Iterator[Placed]:
    """Yield the steps of a test for a way of ``WAYS``."""
    if way == AS_WRITTEN:
        yield from steps
    elif way == ONE_BATCH:
        yield from _together(steps)
    else:
        yield from _apart(steps, restarts=way == RESTARTS)


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
    """Yield each row by itself; a step without rows stays one."""
    if not any(step.lines.values()):
        yield step
    for source, lines in step.lines.items():
        for line in lines:
            yield Rows({source: (line,)})
