"""Chains of steps, each over the rows of the one before it."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.steps import Step
from ..pyspark.layout import Chain
from .registry import root_kind, row_kind
from .rows.columns import Columns
from .rows.origins import Branches


def frame_of(input_: str, steps: Sequence[Step]) -> Chain:
    """Return the DataFrame of steps, which are over an input unless the first has its own."""
    root = root_kind(steps)
    if root is not None:
        return frame_after(root.frame(steps[0]), steps[1:])
    return frame_after(Chain(input_), steps)


def frame_after(rows: Chain, steps: Sequence[Step]) -> Chain:
    """Return the DataFrame of rows that pass steps."""
    for step in steps:
        rows = row_kind(step).script(step, rows)
    return rows


def columns_after(columns: Columns, steps: Sequence[Step]) -> Columns:
    """Return the columns of rows that pass steps."""
    for step in steps:
        columns = row_kind(step).columns(step, columns)
    return columns


def branches_after(branches: Branches, steps: Sequence[Step]) -> Branches:
    """Return the origins of rows that pass steps."""
    for step in steps:
        branches = row_kind(step).branches(step, branches)
    return branches
