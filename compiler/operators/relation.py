"""A chain of steps: its DataFrame, and the columns that come out of it."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.steps import Step
from ..pyspark.layout import Chain
from .registry import root_kind, row_kind
from .rows.columns import Columns


def frame_of(input_: str, steps: Sequence[Step]) -> Chain:
    """Return the DataFrame of steps, which are over an input unless the first has its own."""
    root = root_kind(steps)
    if root is not None:
        return passed(root.frame(steps[0]), steps[1:])
    return passed(Chain(input_), steps)


def passed(rows: Chain, steps: Sequence[Step]) -> Chain:
    """Return the DataFrame of rows that pass steps, each over those before it."""
    for step in steps:
        rows = row_kind(step).script(step, rows)
    return rows


def columns_after(columns: Columns, steps: Sequence[Step]) -> Columns:
    """Return the columns of rows that pass steps."""
    for step in steps:
        columns = row_kind(step).columns(step, columns)
    return columns
