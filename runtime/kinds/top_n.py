"""The first rows of each window: to Spark an aggregate that collects rows."""

from __future__ import annotations

from ...contracts.plan import TopN
from .groups import GroupKind


class TopNKind(GroupKind[TopN]):
    """Groups by keys, of which a window is one, with the rows that wait for it to close."""

    operator = TopN
