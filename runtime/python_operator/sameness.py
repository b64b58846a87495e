"""When two values are the same, as in the kernel.

In Python NaN does not equal itself, and -0.0 equals 0.0, though a reader can distinguish them.
"""

from __future__ import annotations

import math
from typing import Any


def same(one: Any, other: Any) -> bool:
    """Whether two values of one type are indistinguishable to a reader."""
    if isinstance(one, float) and isinstance(other, float):
        alike = one == other and math.copysign(1.0, one) == math.copysign(1.0, other)
        return alike or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            any(same(key, k) and same(held, v) for k, v in other.items())
            for key, held in one.items()
        )
    return bool(one == other)


def plain_key(key: Any) -> Any:
    """A key in the form of Spark's grouping: one NaN, no -0.0. State is found by a key's bytes."""
    if isinstance(key, float):
        return math.nan if math.isnan(key) else key + 0.0
    if isinstance(key, list):
        return [plain_key(one) for one in key]
    return tuple(map(plain_key, key)) if isinstance(key, tuple) else key
