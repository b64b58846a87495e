"""Parts that operators of several kinds have."""

from __future__ import annotations

from .operators import Aggregation, Operator, Program
from .values import Window


def window_of(operator: Operator) -> Window | None:
    """Return the window of an operator that has one of its own; sides of joins have theirs."""
    return operator.window if isinstance(operator, Aggregation | Program) else None
