"""Of a migration what one query needs: the cells and columns that it keeps, and who has them.

Queries keep of a common operator what each of them reads. Where one reads more than before, another
may have had it: at a barrier all stand at the same cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....contracts.plan import Deduplication, Join, Program
from ...base.options import reads
from ...plan.plan import OperatorUse
from ...state_tables.tables import SIDES, STATE, cell_names
from ..format.model import SavedOperator

Change = Mapping[str, Any]


def alive(change: Change, use: OperatorUse) -> Change:
    """What a migration says of an operator, without what the query of a use does not keep."""
    if isinstance(use.operator, Deduplication | Program):
        return change
    if isinstance(use.operator, Join):
        kept = [{column.name for column in side} for side in use.sides]
        sides = [
            {**side, "columns": [one for one in side["columns"] if one["name"] in names]}
            for side, names in zip(change["sides"], kept, strict=True)
        ]
        return {**change, "sides": sides}
    ids = set(cell_names(use))
    return {**change, "cells": [one for one in change["cells"] if one["id"] in ids]}


def holder(change: Change, candidates: Sequence[SavedOperator]) -> SavedOperator:
    """The first that has all that the expressions of a migration read; the first, if none has."""
    read = list(_expressions(change))
    known = [_columns(one) for one in candidates]
    wanted = {
        (table, name)
        for table, name in set().union(*known)
        for where, expression in read
        if where == table and reads(expression, name)
    }
    found = (one for one, held in zip(candidates, known, strict=True) if wanted <= held)
    return next(found, candidates[0])


def _expressions(change: Change) -> Iterator[tuple[str, str]]:
    """Yields each expression over what one of several queries may lack, with its table."""
    for one in change.get("cells", ()):
        yield STATE, str(one["expr"])
    if change.get("where") is not None:
        yield STATE, str(change["where"])
    for side, said in zip(SIDES, change.get("sides", ()), strict=False):
        for one in said["columns"]:
            yield said.get("from", side), str(one["expr"])


def _columns(saved: SavedOperator) -> set[tuple[str, str]]:
    return {(name, column) for name, table in saved.tables.items() for column in table.columns}
