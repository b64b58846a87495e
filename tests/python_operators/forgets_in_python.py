from __future__ import annotations

from typing import Any


class Forgets:
    def on_event(self, row: Any, state: Any, timers: Any) -> Any:
        state.total += row.n
        state.seen[row.n] = row.n
        state.kinds.add(row.n)
        state.ns.append(row.n)
        sizes = [len(state.seen), len(state.kinds), len(state.ns)]
        yield row.k, row.n, state.total, sizes, state.short, 1 in state.brief
        state.short = row.n
        state.brief[1] = row.n
