from __future__ import annotations

from datetime import timedelta
from typing import Any


class TooMany:
    def on_event(self, row: Any, state: Any, timers: Any) -> Any:
        minute = row.ts - timedelta(seconds=60)
        state.recent = [at for at in state.recent if at > minute]
        state.recent.append(row.ts)
        if len(state.recent) > 3:
            if state.quiet_until is None or row.ts >= state.quiet_until:
                yield row.key, row.ts, len(state.recent), state.suppressed
                state.quiet_until = row.ts + timedelta(seconds=300)
                state.clear("suppressed")
            else:
                state.suppressed += 1
        timers.idle.start(row.ts + timedelta(seconds=300))

    def on_timer_idle(self, at: Any, state: Any, timers: Any) -> None:
        state.clear("recent", "quiet_until")
