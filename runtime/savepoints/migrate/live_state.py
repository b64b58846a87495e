"""Of a migration what one query needs: the cells and columns that it keeps, and who has them.

Queries keep of a common operator what each of them reads. Where one reads more than before, another
may have had it: at a barrier all stand at the same cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....contracts.migration import OperatorChange
from ....contracts.plan import Deduplication, Join, Program
from ....contracts.savepoint import SavedOperator
from ...plan.plan import OperatorUse
from ...state_tables.tables import SIDES, STATE, cell_names


def alive(change: OperatorChange, use: OperatorUse) -> OperatorChange:
    """What a migration says of an operator, without what the query of a use does not keep."""
    if isinstance(use.operator, Deduplication | Program):
        return change
    if isinstance(use.operator, Join):
        kept = [{column.name for column in side} for side in use.sides]
        sides = (
            replace(side, columns=tuple(one for one in side.columns if one.name in names))
            for side, names in zip(change.sides, kept, strict=True)
        )
        return replace(change, sides=tuple(sides))
    ids = set(cell_names(use))
    return replace(change, cells=tuple(one for one in change.cells if one.id in ids))


def holder(change: OperatorChange, candidates: Sequence[SavedOperator]) -> SavedOperator:
    """The first that has all that the expressions of a migration read; the first, if none has."""
    read = {(table, name.lower()) for table, names in _reads(change) for name in names}
    known = [_columns(one) for one in candidates]
    wanted = {(table, name) for table, name in set().union(*known) if (table, name.lower()) in read}
    found = (one for one, held in zip(candidates, known, strict=True) if wanted <= held)
    return next(found, candidates[0])


def _reads(change: OperatorChange) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields the columns read of each table of which one of several queries may lack some."""
    for cell in change.cells:
        yield STATE, cell.reads
    yield STATE, change.where_reads
    for side, said in zip(SIDES, change.sides, strict=False):
        for column in said.columns:
            yield said.old or side, column.reads


def _columns(saved: SavedOperator) -> set[tuple[str, str]]:
    return {(name, column) for name, table in saved.tables.items() for column in table.columns}
