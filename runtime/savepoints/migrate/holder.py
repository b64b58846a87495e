"""Which query of a savepoint has all that a migration reads of an operator.

Each query keeps the part of a shared operator that it reads. Where one reads more than before,
another may have had it: at a barrier all are at the same cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....contracts.migration import OperatorChange
from ....contracts.plan import Operator
from ....contracts.savepoint import SavedOperator
from ...kinds.registry import kind_of


def holder(
    change: OperatorChange, candidates: Sequence[SavedOperator], old: Operator
) -> SavedOperator:
    """The first with everything that the expressions of a migration read; else the first."""
    reads = kind_of(old).reads(change)
    read = {(table, name.lower()) for table, names in reads for name in names}
    known = [_columns(one) for one in candidates]
    wanted = {(table, name) for table, name in set().union(*known) if (table, name.lower()) in read}
    found = (one for one, held in zip(candidates, known, strict=True) if wanted <= held)
    return next(found, candidates[0])


def _columns(saved: SavedOperator) -> set[tuple[str, str]]:
    return {(name, column) for name, table in saved.tables.items() for column in table.columns}
