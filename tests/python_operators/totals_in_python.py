from __future__ import annotations

from datetime import timedelta
from typing import Any


class Totals:
    def on_event(self, row: Any, state: Any, timers: Any) -> Any:
        state.total += row.n
        state.sums[row.s] = state.sums.get(row.s, 0) + row.n
        state.seen.add(row.s)
        state.ns.append(row.n)
        timers.due.start(row.at + timedelta(minutes=5))
        seen = "".join(state.seen)
        yield state.key.k, row.at, state.total, state.sums[row.s], seen, list(state.ns)

    def on_timer_due(self, at: Any, state: Any, timers: Any) -> Any:
        yield state.key.k, at, -state.total, len(state.sums), "due", list(state.ns)
