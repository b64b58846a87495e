from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from streamc.runtime.python_operator import State, Timers


class Timers_:
    def on_event(self, row: Any, state: State, timers: Timers) -> Iterator[tuple[Any, ...]]:
        yield (row.k, row.s, state.fired, row.at)
        at = row.at + timedelta(minutes=row.n)
        if row.s == "both":
            timers.second.start(at)
            timers.first.start(at)
        elif row.s == "start":
            timers.first.start(at)
        elif row.s == "stop":
            timers.first.stop()

    def on_timer_first(
        self, at: datetime, state: State, timers: Timers
    ) -> Iterator[dict[str, Any]]:
        state.fired += 1
        yield {"at": at, "k": state.key.k, "fired": state.fired, "what": "first"}

    def on_timer_second(self, at: datetime, state: State, timers: Timers) -> list[tuple[Any, ...]]:
        state.fired = state.fired + 10
        if state.fired < 40:
            timers.second.start(at + timedelta(minutes=1))
        return [(state.key.k, "second", state.fired, at)]


class Gaps:
    def on_event(self, row: Any, state: State, timers: Timers) -> Iterator[tuple[Any, ...]]:
        if state.last is not None:
            yield (row.k, int((row.at - state.last).total_seconds()), row.at)
        state.last = row.at
