"""What the shop's sinks hold, worked out from all rows at once in plain Python.

Parts 1 and 2 have arrived before the state was kept. `rows(parts)` is what is out when the parts
are in and the watermarks have followed; `rows_of_new(…)` what the second version adds to it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, TypeVar

CUT = 2
"""So many parts are in the state."""
PARTS = 4

Row = dict[str, Any]
T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True)
class Order:
    order_id: str
    customer: str
    amount: Decimal
    at: datetime
    coupon: str | None
    part: int


@dataclass(frozen=True)
class Shipment:
    order_id: str
    carrier: str
    at: datetime


class Shop:
    """What has arrived with some parts, and how far the watermarks are."""

    def __init__(self, parts: int) -> None:
        self.orders = sorted(_orders(parts), key=lambda order: order.at)
        self.shipments = sorted(_shipments(parts), key=lambda shipment: shipment.at)
        delay = timedelta(minutes=1)
        self.passed = max(order.at for order in self.orders) - delay
        self.both_passed = min(self.passed, max(s.at for s in self.shipments) - delay)

    @property
    def firsts(self) -> list[Order]:
        """Each order once, as it came first: the parts say which."""
        known: dict[str, Order] = {}
        for order in sorted(self.orders, key=lambda order: order.part):
            known.setdefault(order.order_id, order)
        return sorted(known.values(), key=lambda order: order.at)

    def of_customers(self) -> Iterable[list[Order]]:
        return _grouped(self.orders, lambda order: order.customer).values()


def rows(parts: int) -> dict[str, list[Row]]:
    """The rows of each files sink once these parts have been worked off."""
    shop = Shop(parts)
    return {
        "spend": _spend(shop.firsts, timedelta(minutes=1), shop.passed),
        "first_orders": [
            {"order_id": o.order_id, "customer": o.customer, "ordered_at": o.at}
            for o in shop.firsts
        ],
        "visits": _visits(shop.orders, timedelta(minutes=2), shop.passed),
        "shipped": [_but("coupon", row) for row in _shipped(shop)],
        "reminders": _reminders(shop),
        "rolling": _rolling(shop),
        "rises": _rises(shop),
        "best": _best(shop, 1),
    }


def totals(parts: int) -> list[Row]:
    """The last row of each customer of whom an order has come behind the cut."""
    orders = Shop(parts).orders
    changed = {order.customer for order in orders if order.part > CUT}
    return [
        {
            "customer": customer,
            "total": sum(order.amount for order in own),
            "largest": max(order.amount for order in own),
            "n": len(own),
        }
        for customer, own in _grouped(orders, lambda order: order.customer).items()
        if customer in changed
    ]


def rows_of_new() -> dict[str, list[Row]]:
    """The rows that the second version gives from the savepoint on, as `1-to-2.yaml` decides."""
    before, shop = Shop(CUT), Shop(PARTS)
    old, new = rows(CUT), rows(PARTS)
    added = {sink: _without(new[sink], old[sink]) for sink in new}
    minute = timedelta(minutes=1)
    kept = [o for o in shop.firsts if _start(o.at, minute) + minute > before.passed]
    spend = _spend(kept, 5 * minute, shop.passed)
    for row in spend:
        amounts = [
            o.amount
            for o in kept
            if o.part > CUT and o.customer == row["customer"]
            if _start(o.at, 5 * minute) == row["window_start"]
        ]
        row["largest"] = max(amounts, default=None)
    closed = _visits(before.orders, 2 * minute, before.passed)
    open_ = [
        o
        for o in shop.orders
        if not any(
            o.customer == visit["customer"] and visit["window_start"] <= o.at < visit["window_end"]
            for visit in closed
        )
    ]
    return added | {
        "spend": spend,
        "visits": _visits(open_, 3 * minute, shop.passed),
        "shipped": _without(_shipped(shop), _shipped(before)),
        "reminders": [_with_weight(row) for row in added["reminders"]],
        "best": _best(shop, 2),
    }


def _spend(orders: list[Order], size: timedelta, passed: datetime) -> list[Row]:
    windows = _grouped(orders, lambda order: (order.customer, _start(order.at, size)))
    return [
        {
            "customer": customer,
            "window_start": start,
            "total": sum(order.amount for order in own),
            "mean": _mean([order.amount for order in own]),
            "n": len(own),
            "amounts": len({order.amount for order in own}),
        }
        for (customer, start), own in windows.items()
        if start + size <= passed
    ]


def _visits(orders: list[Order], gap: timedelta, passed: datetime) -> list[Row]:
    found: list[list[Order]] = []
    for own in _grouped(orders, lambda order: order.customer).values():
        for at, order in enumerate(own):
            if at == 0 or order.at - own[at - 1].at > gap:
                found.append([])
            found[-1].append(order)
    return [
        {
            "customer": own[0].customer,
            "window_start": own[0].at,
            "window_end": own[-1].at + gap,
            "n": len(own),
            "total": sum(order.amount for order in own),
        }
        for own in found
        if own[-1].at + gap <= passed
    ]


def _shipped(shop: Shop) -> list[Row]:
    found: list[Row] = []
    for order in shop.orders:
        last = order.at + timedelta(minutes=5)
        carriers = [
            s.carrier
            for s in shop.shipments
            if s.order_id == order.order_id and order.at <= s.at <= last
        ]
        if not carriers and last < shop.both_passed:
            carriers = [""]
        found += [
            {
                "order_id": order.order_id,
                "customer": order.customer,
                "coupon": order.coupon,
                "ordered_at": order.at,
                "carrier": carrier or None,
            }
            for carrier in carriers
        ]
    return found


def _reminders(shop: Shop) -> list[Row]:
    found: list[Row] = []
    for order in shop.firsts:
        due = order.at + timedelta(minutes=2)
        if due > shop.both_passed:
            continue
        own = [s for s in shop.shipments if s.order_id == order.order_id and s.at <= due]
        by_dhl = [s.at for s in own if s.carrier == "dhl"]
        found.append(
            {
                "order_id": order.order_id,
                "customer": order.customer,
                "parcels": len(own),
                "carriers": len({s.carrier for s in own}),
                "trail": "-".join(s.carrier for s in own),
                "by_dhl": by_dhl[-1] if by_dhl else None,
                "at": due,
            }
        )
    return found


def _with_weight(row: Row) -> Row:
    """A reminder of the second version: a parcel weighs two."""
    packages = row["parcels"]
    return _but("parcels", row) | {"packages": packages, "weight": 2 * packages}


def _rolling(shop: Shop) -> list[Row]:
    found: list[Row] = []
    for own in shop.of_customers():
        for at, order in enumerate(own):
            first = order.at - timedelta(minutes=3)
            found.append(
                {
                    "order_id": order.order_id,
                    "customer": order.customer,
                    "amount": order.amount,
                    "ordered_at": order.at,
                    "lately": sum(o.amount for o in own if first <= o.at <= order.at),
                    "before": own[at - 1].amount if at else None,
                }
            )
    return [row for row in found if row["ordered_at"] <= shop.passed]


def _rises(shop: Shop) -> list[Row]:
    found: list[Row] = []
    for own in shop.of_customers():
        at = 0
        while at + 1 < len(own):
            low, high = own[at], own[at + 1]
            if high.amount > low.amount and high.at - low.at <= timedelta(minutes=10):
                growth = high.amount - low.amount
                found.append(
                    {
                        "customer": low.customer,
                        "began": low.at,
                        "ended": high.at,
                        "growth": growth,
                    }
                )
                at += 1
            at += 1
    return [row for row in found if row["ended"] <= shop.passed]


def _best(shop: Shop, places: int) -> list[Row]:
    size = timedelta(minutes=5)
    found: list[Row] = []
    for start, orders in _grouped(shop.orders, lambda order: _start(order.at, size)).items():
        ranked = sorted(orders, key=lambda order: (-order.amount, order.order_id))
        found += [
            {
                "window_start": start,
                "place": place,
                "order_id": order.order_id,
                "customer": order.customer,
                "amount": order.amount,
            }
            for place, order in enumerate(ranked[:places], 1)
            if start + size <= shop.passed
        ]
    return found


def _but(name: str, row: Row) -> Row:
    return {other: value for other, value in row.items() if other != name}


def _orders(parts: int) -> Iterable[Order]:
    for part, row in _read("orders", parts):
        yield Order(
            row["order_id"],
            row["customer"],
            row["amount"],
            _instant(row["ordered_at"]),
            row.get("coupon"),
            part,
        )


def _shipments(parts: int) -> Iterable[Shipment]:
    for _, row in _read("shipments", parts):
        yield Shipment(row["order_id"], row["carrier"], _instant(row["shipped_at"]))


def _read(source: str, parts: int) -> Iterable[tuple[int, Row]]:
    for part in range(1, parts + 1):
        path = Path(__file__).parent / "rows" / source / f"{part}.json"
        for line in path.read_text(encoding="utf-8").splitlines():
            yield part, json.loads(line, parse_float=Decimal)


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _start(at: datetime, size: timedelta) -> datetime:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return at - (at - epoch) % size


def _mean(amounts: list[Decimal]) -> Decimal:
    mean = sum(amounts, Decimal()) / len(amounts)
    return mean.quantize(Decimal("0.000001"), ROUND_HALF_UP)


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return found


def _without(all_: list[Row], some: list[Row]) -> list[Row]:
    left = list(all_)
    for row in some:
        left.remove(row)
    return left
