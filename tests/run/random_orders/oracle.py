"""The rows of the spec beside it, computed by plain Python over the whole input."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import stdev

START = datetime(2026, 1, 1, 10, tzinfo=UTC)
DELAY = timedelta(minutes=5)
SIZE = timedelta(minutes=10)
GAP = timedelta(minutes=3)
INSTANT = timedelta(microseconds=1)


def inputs():
    """Each row is at most the delay behind the latest one before it; whole minutes make ties."""
    rng = random.Random(20260101)
    rows = []
    for number in range(219):
        at = START + timedelta(seconds=40 * number) - rng.choice([0, 0, 1, 2, 4]) * timedelta(minutes=1)
        rows.append(
            {
                "shop": rng.choice(["a", "b", "c", "d", None]),
                "item": rng.choice(["x", "y", None]),
                "qty": rng.choice([None, 0, 1, 2, 3, 4, -1]),
                "price": rng.choice([None, Decimal(rng.randrange(10_000)) / 100]),
                "ts": at.replace(second=0) if rng.random() < 0.3 else at,
            }
        )
    last = START + timedelta(days=1)
    return {"orders": [*rows, {"shop": "z", "item": "z", "qty": 1, "price": None, "ts": last}]}


def expected(inputs):
    rows = inputs["orders"]
    closed = max(row["ts"] for row in rows) - DELAY
    sales = [found for found in _sales(rows, closed)]
    return {
        "sales_out": sales,
        "rolling_out": list(_rolling(rows, closed)),
        "bursts_out": list(_bursts(rows, closed)),
        "best_out": list(_best(sales)),
    }


def _start(ts, size):
    return ts - (ts - datetime(1970, 1, 1, tzinfo=UTC)) % size


def _known(rows, column):
    return [row[column] for row in rows if row[column] is not None]


def _sales(rows, closed):
    groups = defaultdict(list)
    for row in rows:
        groups[row["shop"], _start(row["ts"], SIZE)].append(row)
    for (shop, start), group in groups.items():
        qty = _known(group, "qty")
        if start + SIZE > closed or not qty:
            continue
        prices = _known(group, "price")
        of_many = _known([row for row in group if (row["qty"] or 0) > 2], "price")
        yield {
            "shop": shop,
            "window_start": start,
            "window_time": start + SIZE - INSTANT,
            "n": len(group),
            "items": len(set(_known(group, "item"))),
            "qty": sum(qty),
            "mean_qty": sum(qty) / len(qty),
            "spread": stdev(qty) if len(qty) > 1 else None,
            "price": sum(of_many).quantize(Decimal("0.01")) if of_many else None,
            "price_range": (max(prices) - min(prices)).quantize(Decimal("0.01")) if prices else None,
        }


def _rolling(rows, closed):
    groups = defaultdict(list)
    for row in rows:
        for slides in range(3):
            groups[row["item"], _start(row["ts"], SIZE) - slides * SIZE].append(row)
    for (item, start), group in groups.items():
        if start + 3 * SIZE <= closed:
            least = min(_known(group, "qty"), default=None)
            yield {"item": item, "window_start": start, "n": len(group), "least": least}


def _bursts(rows, closed):
    for shop in {row["shop"] for row in rows}:
        sessions = []
        for row in sorted((r for r in rows if r["shop"] == shop), key=lambda r: r["ts"]):
            if sessions and row["ts"] - sessions[-1][-1]["ts"] <= GAP:
                sessions[-1].append(row)
            else:
                sessions.append([row])
        for session in sessions:
            end = session[-1]["ts"] + GAP
            if end <= closed:
                qty = _known(session, "qty")
                yield {
                    "shop": shop,
                    "window_start": session[0]["ts"],
                    "window_end": end,
                    "n": len(session),
                    "qty": sum(qty) if qty else None,
                }


def _best(sales):
    for start in {row["window_start"] for row in sales}:
        group = [row for row in sales if row["window_start"] == start]
        # No text sorts before NULL, which comes first in ascending order.
        group.sort(key=lambda r: (-r["qty"], r["n"], r["shop"] is not None, r["shop"] or ""))
        for rank, row in enumerate(group[:2], start=1):
            kept = {name: row[name] for name in ("shop", "qty", "n")}
            yield {"window_start": start, "rank": rank, **kept}
