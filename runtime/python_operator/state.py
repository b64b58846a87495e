"""The interface of the current key for a class: its cells, and its timers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from pyspark.sql.types import Row

from .entries import Cell
from .instants import Clock, micros_of, moment_of
from .plan import OperatorPlan
from .record import Record


class State:
    """The cells of a key, each an attribute: `state.total`, `state.total = 3`.

    A map, set or list is a `MapCell`, `SetCell` or `ListCell`; assigning to one replaces its
    content. A cell whose name is reserved by Python or this class is available as `state["clear"]`.
    """

    __slots__ = ("_entries", "_key", "_record", "_values")

    _values: Mapping[str, int]
    _entries: Mapping[str, Cell]
    _record: Record
    _key: Row | None

    def __init__(self, plan: OperatorPlan, record: Record, entries: Sequence[Cell]) -> None:
        own = object.__setattr__
        own(self, "_values", {cell.name: n for n, cell in enumerate(plan.values)})
        own(self, "_entries", {cell.plan.name: cell for cell in entries})
        own(self, "_record", record)
        own(self, "_key", None)

    @property
    def key(self) -> Row:
        """The key as a row: `state.key.order_id`."""
        assert self._key is not None
        return self._key

    def turn_to(self, key: Row) -> None:
        """Switches to another key."""
        object.__setattr__(self, "_key", key)

    def clear(self, *names: str) -> None:
        """Resets cells to their initial content; all of them if no names are given.

        Timers stay as they are.
        """
        for name in names or (*self._values, *self._entries):
            if name in self._values:
                self._record.clear(self._values[name])
            elif name in self._entries:
                self._entries[name].clear()
            else:
                raise self._unknown(name)

    def __getitem__(self, name: str) -> Any:
        if name in self._values:
            return self._record.value(self._values[name])
        if name in self._entries:
            return self._entries[name]
        raise self._unknown(name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name in self._values:
            self._record.assign(self._values[name], value)
        elif name in self._entries:
            self._entries[name].replace(value)
        else:
            raise self._unknown(name)

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def _unknown(self, name: str) -> AttributeError:
        return _unknown("cell", name, [*self._values, *self._entries])


class Timer:
    """A timer of a key."""

    __slots__ = ("_n", "_name", "_record")

    def __init__(self, name: str, n: int, record: Record) -> None:
        self._name, self._n, self._record = name, n, record

    @property
    def at(self) -> datetime | None:
        """The instant for which it is set, None when it is not set."""
        at = self._record.timers[self._n]
        return None if at is None else moment_of(at)

    def start(self, at: datetime) -> None:
        """Sets the timer, or moves it."""
        if not isinstance(at, datetime):
            raise TypeError(f"{self._name} starts at a datetime, not at {at!r}")
        self._record.start(self._n, micros_of(at))

    def stop(self) -> None:
        """Unsets the timer, if it is set."""
        self._record.start(self._n, None)


class Timers:
    """The timers of a key, each an attribute: `timers.deadline.start(at)`; and the time.

    A timer whose name is reserved by Python or this class is available as `timers["now"]`.
    """

    __slots__ = ("_clock", "_timers")

    def __init__(self, plan: OperatorPlan, record: Record, clock: Clock) -> None:
        self._clock = clock
        self._timers = {t.name: Timer(t.name, n, record) for n, t in enumerate(plan.timers)}

    @property
    def watermark(self) -> datetime | None:
        """The watermark of the epoch, None as long as there is none."""
        watermark = self._clock.watermark
        return None if watermark is None else moment_of(watermark)

    @property
    def now(self) -> datetime:
        """The time at which the epoch began."""
        return moment_of(self._clock.now)

    def __getitem__(self, name: str) -> Timer:
        if name not in self._timers:
            raise _unknown("timer", name, [*self._timers])
        return self._timers[name]

    def __getattr__(self, name: str) -> Timer:
        return self[name]


def _unknown(what: str, name: str, known: list[str]) -> AttributeError:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
    return AttributeError(f"there is no {what} {name}; {hint}")
