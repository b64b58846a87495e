from __future__ import annotations

from datetime import timedelta
from typing import Any


class Loops:
    def on_event(self, row: Any, state: Any, timers: Any) -> Any:
        state.rows += 1
        letters = "".join(reversed(row.s.replace("x", "")))
        passed = timers.watermark >= row.at
        yield state.rows, sum(range(row.n + 1)), letters, passed
        if state.rows == 1:
            timers.soon.start(timers.now)
            timers.later.start(timers.now + timedelta(hours=1))

    def on_timer_soon(self, at: Any, state: Any, timers: Any) -> Any:
        yield -1, state.rows, "soon", at <= timers.now

    def on_timer_later(self, at: Any, state: Any, timers: Any) -> Any:
        yield -2, state.rows, "later", True
