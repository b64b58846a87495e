"""The handlers of a class: what they get, what they emit, and where they fail."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql.types import Row

from .instants import micros_of, moment_of
from .plan import InputPlan, OperatorPlan
from .state import State, Timers
from .values import Unfit, writer

TURNS = 10_000
"""How often timers of a key may fire between two rows."""

FAILED = "[streamc]"
"""The prefix of an error's message in a class, found within all of Spark's wrapping."""

_OWN = os.path.dirname(__file__)
_SPARK = f"{os.sep}pyspark{os.sep}"


class Handlers:
    """The handlers of a class, for one key at a time: what they emit, and where they fail."""

    def __init__(self, plan: OperatorPlan, state: State, timers: Timers) -> None:
        self._plan, self._state, self._timers = plan, state, timers
        self._own: Any = None
        self._several = len(plan.inputs) > 1
        self._write = writer(plan.returns, arrow=True)
        self._names = plan.returns.names
        self._row = Row(*self._names)
        self._rows: Sequence[Any] = [Row(*one.columns) for one in plan.inputs]

    def turn_to(self, key: Row) -> None:
        """Switches to another key."""
        self._state.turn_to(key)

    def event(self, row: Any) -> Iterator[Row]:
        """What the handler of an input emits for a row."""
        n = row[1 if self._plan.timed else 0] if self._several else 0
        given: InputPlan = self._plan.inputs[n]
        made = self._rows[n](*row[given.first : given.first + len(given.columns)])
        name = f"on_event_{given.alias}" if self._several else "on_event"
        at = micros_of(row[0]) if self._plan.timed and row[0] is not None else None
        where = f"ON EVENT {given.alias}"
        return self._emitted(where, made, at, lambda: self._method(name)(made, *self._parts()))

    def expiry(self, timer: int, at: int, *, too_often: bool) -> Iterator[Row]:
        """What the handler of a timer emits."""
        name = self._plan.timers[timer].name

        def call() -> Any:
            if too_often:
                raise RuntimeError(f"{name} has fired {TURNS} times at once")
            return self._method(f"on_timer_{name}")(moment_of(at), *self._parts())

        by_event_time = None if self._plan.timers[timer].processing else at
        return self._emitted(f"ON TIMER {name}", None, by_event_time, call)

    def _parts(self) -> tuple[State, Timers]:
        return self._state, self._timers

    def _method(self, name: str) -> Callable[..., Any]:
        if self._own is None:
            self._own = self._plan.handlers()
        return getattr(self._own, name)  # type: ignore[no-any-return]

    def _emitted(
        self, where: str, row: Row | None, at: int | None, call: Callable[[], Any]
    ) -> Iterator[Row]:
        try:
            for one in _each(call()):
                yield self._checked(one, at)
        except Exception as error:
            raise RuntimeError(self._told(where, row, error)) from None

    def _checked(self, values: Any, at: int | None) -> Row:
        try:
            made = self._write(values)
        except Unfit as error:
            raise TypeError(f"what is emitted: {self._misfit(values) or error}") from None
        if made is None:
            raise TypeError("None is emitted, which is not a row")
        if self._plan.event_time is not None:
            self._check_time(self._names[self._plan.event_time], made, at)
        return self._row(*made.values())

    def _misfit(self, values: Any) -> str | None:
        """What is wrong with a row of the right form."""
        given = values.asDict() if isinstance(values, Row) else values
        if not isinstance(given, Mapping | tuple | list):
            return None
        pairs = (
            given.items() if isinstance(given, Mapping) else zip(self._names, given, strict=False)
        )
        if len(given) > len(self._names):
            return f"{len(given)} values for {len(self._names)} columns"
        for name, value in pairs:
            if name not in self._names:
                return f"there is no column {name}"
            try:
                writer(self._plan.returns[name].dataType)(value)
            except Unfit as error:
                return f"{name}: {error}"
        return f"{len(given)} values for {len(self._names)} columns"

    def _check_time(self, name: str, made: Mapping[str, Any], at: int | None) -> None:
        """After an operator, rows that the watermark has passed are late."""
        found, floor = made[name], at if at is not None else self._timers_floor()
        if found is None or (floor is not None and micros_of(found) < floor):
            since = "" if floor is None else f", before {moment_of(floor)}"
            raise ValueError(f"{name} is the event time of what is emitted: {found}{since}")

    def _timers_floor(self) -> int | None:
        watermark = self._timers.watermark
        return None if watermark is None else micros_of(watermark)

    def _told(self, where: str, row: Row | None, error: Exception) -> str:
        plan = self._plan
        key = _shown(plan.key_names, self._state.key)
        what = "" if row is None else f", row {_shown(row.__fields__, row)}"
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if os.path.dirname(frame.filename) != _OWN and _SPARK not in frame.filename
        ]
        lines = [*traceback.format_list(frames), *traceback.format_exception_only(error)]
        place = f"operator `{plan.id}` ({plan.target}), {where}, key {key}{what}"
        return f"{FAILED} {place} raised\n" + "".join(lines).rstrip("\n")


def _each(emitted: Any) -> Iterable[Any]:
    if emitted is None:
        return ()
    if isinstance(emitted, str | bytes | Mapping | Row) or not hasattr(emitted, "__iter__"):
        raise TypeError(f"a handler yields rows, or returns a list of them, not {emitted!r}")
    return emitted  # type: ignore[no-any-return]


def _shown(names: Sequence[str], values: Sequence[Any]) -> str:
    pairs = (f"{name} = {value}" for name, value in zip(names, values, strict=True))
    return f"({', '.join(pairs)})"
