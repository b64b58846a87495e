"""A key's row of state: its values, its timers, and when it is woken.

It is read when the key's turn begins and written when it ends, if anything has changed. Names and
meaning are those of a program in the kernel (`kernel/keyed/KeyState.scala`).
"""

from __future__ import annotations

from typing import Any

from .instants import POLLED, Clock, micros_of, moment_of, wake
from .plan import OperatorPlan
from .sameness import same
from .values import Convert, fitted, reader, writer


class Record:
    """The record of the current key; instants in microseconds, None when not set.

    `armed` is when the key is woken, in milliseconds of its clock; `number` is that of the next
    waiting row, 0 without any; `sweep` is when expired entries are removed, in milliseconds.
    """

    def __init__(self, plan: OperatorPlan, handle: Any, clock: Clock) -> None:
        self._plan = plan
        self._handle = handle
        self._clock = clock
        self._variable = handle.getValueState("record", plan.record)
        kinds = [plan.record[n].dataType for n in range(len(plan.values))]
        self._read: list[Convert] = [reader(kind) for kind in kinds]
        self._write: list[Convert] = [writer(kind) for kind in kinds]
        self._lasting = [n for n, cell in enumerate(plan.values) if cell.ttl]
        self._held: list[Any] = []
        self._written: dict[int, int | None] = {}
        self._existed = self._changed = False
        self._millis = 0
        self.timers: list[int | None] = []
        self.armed: int | None = None
        self.number = 0
        self.sweep: int | None = None

    def load(self, millis: int) -> None:
        """Reads the key's row; `millis` is the clock by which it is woken."""
        self._millis = millis
        found = self._variable.get()
        self._existed, self._changed = found is not None, False
        values, lasting, timers = len(self._plan.values), len(self._lasting), len(self._plan.timers)
        if found is None:
            found = (
                *(cell.default for cell in self._plan.values),
                *[None] * (lasting + timers + 3),
            )
        self._held = [*found[:values]]
        self._written = dict(zip(self._lasting, found[values : values + lasting], strict=True))
        at = found[values + lasting : values + lasting + timers]
        read = reader(self._plan.record[values + lasting].dataType) if timers else None
        self.timers = [None if one is None or read is None else micros_of(read(one)) for one in at]
        self.armed, number, self.sweep = found[-3:]
        self.number = number or 0
        for n, written in self._written.items():
            if written is not None and written + self._plan.values[n].ttl <= self._clock.now:
                self._held[n] = self._plan.values[n].default
                self._written[n] = None
                self._changed = True

    def change(self) -> None:
        """Notes a change to something other than the values."""
        self._changed = True

    def value(self, n: int) -> Any:
        """The value of a cell, a copy of it."""
        return self._read[n](self._held[n])

    def assign(self, n: int, value: Any) -> None:
        """Assigns a cell."""
        cell = self._plan.values[n]
        self._held[n] = fitted(self._write[n], value, cell.name)
        self._written[n] = self._clock.now
        self._changed = True
        if cell.ttl:
            self.touch(cell.ttl)

    def clear(self, n: int) -> None:
        """Resets a cell to its initial content."""
        self.assign(n, self._plan.values[n].default)

    def start(self, timer: int, at: int | None) -> None:
        """Sets, moves or unsets a timer."""
        self.timers[timer] = at
        self._changed = True

    def touch(self, ttl: int) -> None:
        """Schedules a sweep for something written that will expire."""
        if self.sweep is None:
            self.sweep = self._millis + max(ttl // 1000, 1)
            self._changed = True

    def touch_values(self) -> None:
        """Keeps a sweep scheduled as long as there is a value that will expire."""
        waiting = [self._plan.values[n].ttl for n in self._lasting if not self._is_default(n)]
        if waiting:
            self.touch(min(waiting))

    def arm(self, at: int | None) -> None:
        """Makes Spark wake the key at an instant, and at no other."""
        if at == self.armed:
            return
        if self.armed is not None:
            self._handle.deleteTimer(self.armed)
        if at is not None:
            self._handle.registerTimer(at)
        self.armed = at
        self._changed = True

    def save(self) -> None:
        """Writes the record, or removes it when it is empty."""
        if not self._changed:
            return
        set_timers = [at for at in self.timers if at is not None]
        idle = self.armed is None and self.sweep is None and not set_timers and not self.number
        if idle and all(self._is_default(n) for n in range(len(self._held))):
            if self._existed:
                self._variable.clear()
            return
        timers = [None if at is None else moment_of(at) for at in self.timers]
        written = [self._written[n] for n in self._lasting]
        beside = (self.armed, self.number or None, self.sweep)
        self._variable.update((*self._held, *written, *timers, *beside))

    def restore(self, piece: Any) -> None:
        """Restores a key, and makes sure it is woken: its timers may have changed."""
        first = len(self._plan.values) + len(self._lasting)
        wakes = [] if piece[-3] is None else [piece[-3]]
        for timer, at in zip(self._plan.timers, piece[first:-3], strict=True):
            if at is not None:
                polled = timer.processing and not self._plan.by_clock
                wakes.append(POLLED[0] if polled else wake(micros_of(at)))
        armed = min(wakes, default=None)
        self._variable.update((*piece[:-3], armed, *piece[-2:]))
        if armed is not None:
            self._handle.registerTimer(armed)

    def _is_default(self, n: int) -> bool:
        return same(self.value(n), self._read[n](self._plan.values[n].default))
