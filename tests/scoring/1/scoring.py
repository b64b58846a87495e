"""Points for a value: what a random pipeline calls."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def points(x: pa.Array) -> pa.Array:
    """Give the value, and one more."""
    return pc.add(x, 1)


def others(x: pa.Array) -> pa.Array:
    """Give twice the value."""
    return pc.multiply(x, 2)
