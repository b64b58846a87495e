from __future__ import annotations

from datetime import timedelta
from typing import Any


class Arrivals:
    def on_event(self, row: Any, state: Any, timers: Any) -> Any:
        state.trail += row.s
        if row.n > 0:
            timers.due.start(row.at + timedelta(minutes=row.n))
        yield row.k, state.trail

    def on_timer_due(self, at: Any, state: Any, timers: Any) -> Any:
        state.trail += "!"
        yield state.key.k, state.trail
