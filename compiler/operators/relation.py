"""A chain of steps as a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.steps import Step
from ..pyspark.layout import Chain
from .registry import root_kind, row_kind


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
