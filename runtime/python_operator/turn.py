"""The turn of a key in an epoch: its rows and timers, one by one, in order.

Rows of an ordered operator wait until the watermark has passed them; then rows and timers are
handled by their instants, rows of an instant before its timers, rows of one instant in the order of
their values. In an unordered one, the rows of an epoch are handled by event time and value, and
after them the timers that the watermark has passed. Processing-time timers fire when the epoch's
clock has passed them.

Spark's own timer is a bare instant of one clock. A key has at most one: for the first of its timers
and of its waiting rows. Where Spark's clock is the watermark, a key that waits for processing time
is woken in every epoch, by a timer for an instant that every watermark has passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from pyspark.sql.types import Row

from .entries import cell_of
from .handlers import TURNS, Handlers
from .instants import FAR_MS, FIRST_MS, LAST_MS, POLLED, Clock, micros_of, wake
from .plan import OperatorPlan
from .record import Record
from .state import State, Timers
from .values import rank, reader
from .waiting import Waiting

_EVERY = 2**63 - 1


class Turns:
    """The turns of keys in a task, one by one."""

    def __init__(self, plan: OperatorPlan, handle: Any) -> None:
        self._plan = plan
        self._clock = Clock()
        self._record = Record(plan, handle, self._clock)
        touch = self._record.touch
        self._entries = [cell_of(cell, handle, self._clock, touch) for cell in plan.entries]
        self._waiting = Waiting(plan, handle) if plan.ordered else None
        self._read_key, self._read_row = reader(plan.keys), reader(plan.row)
        self._key_row = Row(*plan.key_names)
        self._state = State(plan, self._record, self._entries)
        self._timers = Timers(plan, self._record, self._clock)
        self._handlers = Handlers(plan, self._state, self._timers)
        self._idle = 0
        self._passed: int | None = None
        self._never: set[int] = set()
        self.arrived = self.handled = 0

    def of(
        self,
        key: Any,
        rows: Iterable[Any],
        now: int,
        watermark: int,
        woken: int | None,
        *,
        rests: bool = False,
    ) -> Iterator[Row]:
        """The rows that a key emits; `now`, `watermark` and `woken` in milliseconds.

        `woken` is the instant of Spark's timer that fired. A key that `rests` is not woken.
        """
        clock, record, plan = self._clock, self._record, self._plan
        known = not plan.by_clock and watermark != 0 and watermark > FIRST_MS
        self._passed = _behind(watermark) if known else None
        clock.now, clock.watermark = now * 1000, min(watermark, FAR_MS) * 1000 if known else None
        millis = now if plan.by_clock else watermark if known else FIRST_MS
        self._idle, self._never = 0, set()
        record.load(millis)
        own = self._read_key(key)
        self._handlers.turn_to(self._key_row(*own[: len(plan.key_names)]))
        if woken is not None and woken == record.armed:
            # Spark removes a timer that has fired.
            record.armed = None
            record.change()
        brought = [self._read_row(row["__row"]) for row in rows]
        self.arrived += len(brought)
        front = None
        if self._waiting is None:
            brought.sort(key=rank)
            yield from self._events(brought)
            due: list[tuple[int, Any]] = []
        else:
            due, front = self._due(self._waiting, brought)
        if not rests:
            yield from self._by_instants(due)
        if record.sweep is not None and record.sweep <= millis:
            self._sweep()
        self._arm(front, millis, woken)
        record.save()

    def restore(self, piece: str, held: Any) -> None:
        """Restores a piece of an operator's initial state."""
        if piece == "record":
            self._record.restore(reader(self._plan.record)(held))
        elif piece == "waiting":
            assert self._waiting is not None
            self._waiting.add(held["at"], held["number"], self._read_row(held["row"]))
        else:
            cell = next(e for e in self._entries if e.plan.variable == piece)
            cell.restore(reader(cell.plan.schema)(held))

    def _due(
        self, waiting: Waiting, brought: Sequence[Any]
    ) -> tuple[list[tuple[int, Any]], int | None]:
        """The due rows, by their instants, and the instant of the first that is not due.

        Waiting rows are read only when some may be due: `armed` is no later than that.
        """
        record, passed = self._record, self._passed
        due: list[tuple[int, Any]] = []
        fronts: list[int] = []
        if record.number and (record.armed is None or self._is_past(record.armed * 1000)):
            due, front = waiting.take(-(2**63) if passed is None else passed)
            fronts += [] if front is None else [front]
            if front is None:
                record.number = 0
                record.change()
        elif record.number and record.armed is not None:
            fronts.append(record.armed * 1000)
        for row in brought:
            at = micros_of(row[0])
            if self._is_past(at):
                due.append((at, row))
                continue
            waiting.add(at, record.number, row)
            record.number += 1
            record.change()
            fronts.append(at)
        return sorted(due, key=lambda pair: rank(pair[1])), min(fronts, default=None)

    def _is_past(self, at: int) -> bool:
        return self._passed is not None and at <= self._passed

    def _by_instants(self, due: list[tuple[int, Any]]) -> Iterator[Row]:
        """Rows and timers that the watermark has passed, then those that the clock has."""
        passed = self._passed
        for at, rows in groupby(due, key=lambda pair: pair[0]):
            # A timer of the same instant comes after the rows.
            yield from self._expiries(at - 1, processing=False)
            yield from self._events([row for _, row in rows])
        while True:
            if passed is not None:
                yield from self._expiries(passed, processing=False)
            if self._first(self._clock.now, processing=True) is None:
                return
            yield from self._expiries(self._clock.now, processing=True, once=True)

    def _events(self, rows: Sequence[Any]) -> Iterator[Row]:
        for row in rows:
            self._idle = 0
            self.handled += 1
            yield from self._handlers.event(row)

    def _expiries(self, until: int, *, processing: bool, once: bool = False) -> Iterator[Row]:
        while (timer := self._first(until, processing=processing)) is not None:
            at = self._record.timers[timer]
            assert at is not None
            self._record.start(timer, None)
            self._idle += 1
            others = list(self._record.timers)
            yield from self._handlers.expiry(timer, at, too_often=self._idle > TURNS)
            if self._passed is not None and self._passed >= FAR_MS * 1000:
                self._spare(others)
            if once:
                return

    def _spare(self, others: Sequence[int | None]) -> None:
        """After the last instant shown to programs, a restarted timer would be due each time."""
        for n, (old, at) in enumerate(zip(others, self._record.timers, strict=True)):
            if at is not None and at != old and at > FAR_MS * 1000:
                self._never.add(n)

    def _first(self, until: int, *, processing: bool) -> int | None:
        """The first due timer of a kind, None if none is."""
        due = [
            (at, n)
            for n, at in enumerate(self._record.timers)
            if at is not None
            and at <= until
            and n not in self._never
            and self._plan.timers[n].processing == processing
        ]
        return min(due)[1] if due else None

    def _sweep(self) -> None:
        self._record.sweep = None
        self._record.change()
        for cell in self._entries:
            if cell.plan.ttl and cell.sweep():
                self._record.touch(cell.plan.ttl)
        self._record.touch_values()

    def _arm(self, front: int | None, millis: int, woken: int | None) -> None:
        """Makes Spark wake the key for what is due first."""
        plan, record = self._plan, self._record
        pairs = [*zip(plan.timers, record.timers, strict=True)]
        clocked = [at for timer, at in pairs if timer.processing and at is not None]
        events = [at for timer, at in pairs if not timer.processing and at is not None]
        events += [front] if front is not None else []
        if clocked and not plan.by_clock:
            record.arm(next(at for at in POLLED if at != woken))
            return
        wanted = [wake(at) for at in (clocked if plan.by_clock else events)]
        wanted += [record.sweep] if record.sweep is not None else []
        record.arm(max(min(*wanted, LAST_MS), millis + 1) if wanted else None)


def _behind(watermark: int) -> int:
    """The last instant that a watermark has passed, in microseconds."""
    return _EVERY if watermark >= LAST_MS else watermark * 1000
