from __future__ import annotations

from typing import Any


class Merged:
    def on_event_b(self, row: Any, state: Any, timers: Any) -> Any:
        state.trail += f"b{row.m}"
        yield row.who, state.trail, row.seen_at

    def on_event_rows(self, row: Any, state: Any, timers: Any) -> Any:
        state.trail += f"a{row.n}{row.s}"
        yield state.key.who, state.trail, row.at
