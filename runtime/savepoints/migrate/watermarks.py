"""The effect of a savepoint's watermark on windows and timers that a migration moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....contracts.migration import OperatorChange, WindowMerge
from ....contracts.plan import Operator, timers_of
from ...base.options import quoted
from ...kinds.conversion import Conversion
from ...state_tables.tables import WINDOW

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from .failing import Attempts


@dataclass(frozen=True, slots=True)
class Incomplete:
    """Windows of the new version that lack what had closed before the cut, up to the watermark.

    For windows of a fixed size that is one, from `start_ms` to `end_ms`, which contained `closed`
    windows of the old version that are no longer there; where they overlap it is `windows` of them
    between these instants. For sessions it is those that begin so early that a closed one might
    have reached them. `groups` is how many of them the savepoint has.
    """

    watermark_ms: int
    groups: int
    closed: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    windows: int | None = None


@dataclass(frozen=True, slots=True)
class MovedTimer:
    """A timer: how many keys have it set, and how many of them to another instant than before.

    `at_once` is how many are due when the first batch begins. `by_clock` is whether it uses
    processing time; then those due now are counted.
    """

    name: str
    by_clock: bool
    set: int
    moved: int
    at_once: int


def incomplete(
    rows: DataFrame, merged: DataFrame, lengths: WindowMerge, watermark_ms: int
) -> Incomplete | None:
    """The incomplete ones of windows merged into wider ones; None if there are none.

    `rows` are the old groups, `merged` the new ones, `lengths` those by which they are merged. The
    watermark is the one by which the last batch of the savepoint has closed windows.
    """
    if watermark_ms == 0:
        return None
    passed = _passed(rows, watermark_ms)
    if lengths.later is not None:
        groups = _count(merged, f"{WINDOW}.start <= timestamp_micros({passed + lengths.later}L)")
        return Incomplete(passed // 1000, groups) if groups else None
    size, part, offset = lengths.into, lengths.of, lengths.offset
    assert size is not None and part is not None and offset is not None
    step = size if lengths.step is None else lengths.step
    # Those that lack something begin after `passed - size`, and up to `passed - part`.
    last = passed - part - (passed - part - offset) % step
    windows = -((passed - size - last) // step)
    if last <= passed - size:
        return None
    start = last - (windows - 1) * step
    parts = {t + at for t in range(start, last + 1, step) for at in range(0, size, part)}
    groups = _count(merged, f"{WINDOW}.start <= timestamp_micros({last}L)")
    return Incomplete(
        passed // 1000,
        groups,
        sum(begin + part <= passed for begin in parts),
        start // 1000,
        (last + size) // 1000,
        windows,
    )


def _passed(rows: DataFrame, watermark_ms: int) -> int:
    """The instant in microseconds up to which windows have closed.

    Above an interval join that is earlier than the query's watermark: what is still there has not
    closed.
    """
    from pyspark.sql import functions as F

    passed = watermark_ms * 1000
    first = rows.select(F.min(F.expr(f"unix_micros({WINDOW}.`end`)"))).head()
    open_ = None if first is None else first[0]
    return passed if open_ is None else min(passed, int(open_) - 1)


def moved_timers(
    record: Conversion,
    change: OperatorChange,
    old: Operator,
    new: Operator,
    watermark_ms: int,
    try_: Attempts,
) -> Iterator[MovedTimer]:
    """Yields the timers of a program if any of them is set differently than before.

    `old` and `new` are the operator in the plans.
    """
    from pyspark.sql import functions as F

    before = {timer.id for timer in timers_of(old)}
    times = {timer.id: timer.time for timer in timers_of(new)}
    given = [(one.name, one.expr) for one in change.timers]
    if all(sql in before or sql in map(quoted, before) for _, sql in given):
        return
    passed = F.expr(f"timestamp_millis({watermark_ms}L)") if watermark_ms else F.lit(None)
    for name, expression in given:
        by_clock = times[name] == "processing"
        instant = try_.value(expression)
        due = F.current_timestamp() if by_clock else passed
        counts = record.rows.select(
            F.count_if(instant.isNotNull()),
            F.count_if(instant.isNotNull() & ~_same(expression, name, before, instant, try_)),
            F.count_if(instant <= due),
        ).head()
        assert counts is not None
        yield MovedTimer(name, by_clock, *map(int, counts))


def _same(expression: str, name: str, before: set[str], instant: Column, try_: Attempts) -> Column:
    """Whether a timer is set for the instant of its old one: the one that it reads, or its name."""
    from pyspark.sql import functions as F

    was = next((one for one in try_.reads(expression) if one in before), name)
    return F.col(quoted(was)).eqNullSafe(instant) if was in before else F.lit(False)


def _count(merged: DataFrame, condition: str) -> int:
    return merged.where(condition).count()
