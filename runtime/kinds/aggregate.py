"""Aggregates over windows, sessions or all time."""

from __future__ import annotations

from ...contracts.plan import Aggregation
from .groups import GroupKind


class AggregateKind(GroupKind[Aggregation]):
    """Groups by keys, and by window if there is one."""

    operator = Aggregation
