"""The rows of the spec beside it, computed by plain Python over the whole input."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def inputs():
    rng = random.Random(7)
    views, clicks = [], []
    for number in range(99):
        at = START + number * MINUTE / 2
        views.append(
            {"person": rng.choice("abc"), "n": number, "at": at - rng.randrange(10) * MINUTE / 2}
        )
        clicks.append(
            {"person": rng.choice("abcd"), "m": number, "ts": at - rng.randrange(4) * MINUTE / 2}
        )
    for row in [*views[::9], *clicks[::7]]:
        row["person"] = None
    end = START + timedelta(days=1)
    views.append({"person": "y", "n": -1, "at": end})
    clicks.append({"person": "z", "m": -1, "ts": end})
    return {"views": views, "clicks": clicks}


def expected(inputs):
    views, clicks = inputs["views"], inputs["clicks"]
    pairs = [(v, c) for v in views for c in clicks if _meet(v, c)]
    met = {v["n"] for v, _ in pairs}
    # The last view still waits for its click.
    alone = [v for v in views[:-1] if v["n"] not in met]
    groups = defaultdict(list)
    for v, c in pairs:
        start = c["ts"] - timedelta(minutes=c["ts"].minute % 10, seconds=c["ts"].second)
        groups[v["person"], start].append((v["n"], c["m"]))
    return {
        "pairs_out": [
            {"person": v["person"], "n": v["n"], "m": c["m"], "ts": c["ts"]} for v, c in pairs
        ],
        "all_views_out": [
            *({"n": v["n"], "m": c["m"]} for v, c in pairs),
            *({"n": v["n"], "m": None} for v in alone),
        ],
        "per_window_out": [
            {
                "person": person,
                "window_start": start,
                "n": len(group),
                "views": len({n for n, _ in group}),
                "m": sum(m for _, m in group),
            }
            for (person, start), group in groups.items()
        ],
    }


def _meet(view, click):
    if view["person"] is None or view["person"] != click["person"]:
        return False
    return view["at"] - 2 * MINUTE <= click["ts"] <= view["at"] + 4 * MINUTE
