"""Functions of the case: one of pandas Series, one of Arrow arrays."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from weights_of_payments import MOST


def score(amount: pd.Series[float], country: pd.Series[str]) -> pd.Series[float]:
    """A risk from 0 to 1; none without a country."""
    return (amount / MOST).clip(upper=1.0).where(country.notna(), 0.0)


def following(n: pa.Array) -> pa.Array:
    """The next whole number, exactly."""
    return pc.add(n, 1)
