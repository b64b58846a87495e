from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Cells:
    def on_event(self, row: Any, state: Any, timers: Any) -> Iterator[Any]:
        if row.s == "clear list":
            state.ns.clear()
        elif row.s == "clear state":
            state.clear()
        elif row.s == "remove":
            state.by_s.pop("x", None)
            state.kinds.discard("x")
            state.kinds.discard("never there")
        elif row.s == "set whole":
            state.by_s = {"p": {"n": 1, "at": row.at}, "o": (2, row.at)}
            state.kinds = ["q", "p", "q"]
            state.ns = [3, 1, 2]
        else:
            state.total += row.n
            state.note = row.s
            known = state.by_s.get(row.s)
            state.by_s[row.s] = {"n": (known.n if known else 0) + row.n, "at": row.at}
            state.kinds.add(row.s)
            state.ns.append(row.n)
        x = state.by_s.get("x")
        yield {
            "k": row.k,
            "s": row.s,
            "total": state.total,
            "note": state["note"],
            "found": x and x.n,
            "known": "x" in state.by_s and "x" in state.kinds,
            "sizes": [len(state.by_s), len(state.kinds), len(state.ns)],
            "kinds": list(state.kinds),
            "ns": list(state.ns),
            "keys": list(state.by_s),
            "at": row.at,
        }
