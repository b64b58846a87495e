"""Since when and until when a part of a state is incomplete.

A migration marks what begins empty or lacks rows from before the cut. Marks stay with the state: in
the note of its generation, and in savepoints. In windows the mark ends by itself: once those that
were open at the cut have closed, all are complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ....contracts.migration import CellChange
from ....contracts.notes.marks import Mark
from ....contracts.plan import Operator, window_of
from ...base.errors import RuntimeFault
from ...kinds.registry import kind_of
from ...plan.settings import seconds

if TYPE_CHECKING:
    from .state_mapping import Fit


def marks_after(fit: Fit) -> tuple[Mark, ...]:
    """The marks of a state that starts from a savepoint: those it had, and those of the change."""
    return (*_carried(fit), *_added(fit))


def _carried(fit: Fit) -> Iterator[Mark]:
    """Yields the marks of a savepoint, moved to what is computed from the marked part."""
    for mark in fit.savepoint.marks:
        if fit.migration is None:
            yield mark
            continue
        for id, change in fit.migration.operators.items():
            if change.old != mark.operator:
                continue
            again = set(fit.backfilled.get(id, ()))
            for cell in (None,) if mark.cell is None else _made_of(mark.cell, change.cells):
                if cell is None or cell not in again:
                    yield replace(mark, operator=id, cell=cell)


def _made_of(name: str, cells: Iterable[CellChange]) -> Iterator[str]:
    """Yields the cells whose value is computed from one of this name."""
    for cell in cells:
        if name.lower() in map(str.lower, cell.reads):
            yield cell.id


def _added(fit: Fit) -> Iterator[Mark]:
    for one in () if fit.migration is None else fit.migration.marks:
        if one.operator in fit.plan.operators:
            yield _mark(fit, one.operator, one.cell, one.reason)


def partly(fit: Fit, reason: str) -> Iterator[Mark]:
    """Yields a mark for each part that a backfill could not compute from all rows."""
    for id, parts in fit.backfilled.items():
        whole = fit.migration is None or fit.migration.operators[id].old is None
        for cell in (None,) if whole else parts:
            yield _mark(fit, id, cell, reason)


def _mark(fit: Fit, operator: str, cell: str | None, reason: str) -> Mark:
    return Mark(
        operator=operator,
        cell=cell,
        reason=reason,
        since=fit.savepoint.made_at.isoformat(timespec="seconds"),
        watermark_ms=fit.savepoint.watermark_ms,
        until_ms=_until(fit, operator),
    )


def _until(fit: Fit, operator: str) -> int | None:
    """The watermark at which the last window has closed that may have a row from before the cut.

    Windows of operators below delay rows by their length. None without windows of a fixed length,
    and where rows may be delayed or ahead in other ways.
    """
    if _size(fit.plan.operators[operator]) is None:
        return None
    found = 0
    for query in fit.plan.queries.values():
        used = [fit.plan.operators[use.id] for use in query.operators]
        if operator not in {one.id for one in used}:
            continue
        if len(query.sources) > 1 or not all(kind_of(one).closes_with_window for one in used):
            return None
        try:
            delays = [seconds(delay) for delay in _delays(fit, query.sources[0])]
            sizes = [seconds(size) for one in used if (size := _size(one)) is not None]
        except RuntimeFault:
            return None
        origin = fit.origin(query)
        stood = origin.next_watermark_ms if origin else 0
        found = max(found, stood + round((max(delays, default=0) + sum(sizes)) * 1000))
    return found


def _delays(fit: Fit, source: str) -> Iterator[str]:
    """How late rows of a source may be, in both versions."""
    ends = [fit.plan.sources[source]]
    if source in fit.sources:
        ends.append(fit.savepoint.plan.sources[fit.sources[source]])
    yield from (end.watermark.delay for end in ends if end.watermark is not None)


def _size(operator: Operator) -> str | None:
    """The length of an operator's windows, None for one that has none of a fixed length."""
    window = window_of(operator)
    return None if window is None else window.size
