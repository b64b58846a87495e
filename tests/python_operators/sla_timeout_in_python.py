from __future__ import annotations

from datetime import timedelta
from typing import Any


class Sla:
    def on_event(self, row: Any, state: Any, timers: Any) -> Any:
        if row.event == "placed":
            timers.deadline.start(row.ts + timedelta(hours=24))
        elif row.event in ("shipped", "cancelled"):
            if state.breached and row.event == "shipped":
                yield row.order, "SHIPPED_LATE", row.ts
            timers.deadline.stop()
            state.clear()

    def on_timer_deadline(self, at: Any, state: Any, timers: Any) -> Any:
        state.breached = True
        yield state.key.order, "SLA_BREACH", at
