"""The tables of an operator after a migration: each new key and cell by its expression.

Expressions are Spark SQL over the old columns by their names. Where several old keys become one,
cells are merged, each by its own function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....contracts.migration import OperatorChange
from ....contracts.plan import Operator
from ....contracts.savepoint import SavedOperator
from ...base.errors import unfit
from ...kinds.conversion import Conversion
from ...kinds.registry import kind_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def transformed(
    tables: Mapping[str, DataFrame],
    saved: SavedOperator,
    change: OperatorChange,
    old: Operator,
    new: Operator,
) -> dict[str, DataFrame]:
    """The tables that the new operator starts from.

    `change` is its part of the migration, `old` and `new` the operator in the plans.
    Raises RuntimeFault for what this version cannot carry out.
    """
    check_change(saved, change)
    kept = _kept_rows(tables, saved, change, old)
    return kind_of(old).converted(kept, saved, change, old, new)


def conversions(
    tables: Mapping[str, DataFrame], saved: SavedOperator, change: OperatorChange, old: Operator
) -> list[Conversion]:
    """What is made of each table of an operator, before rows are merged.

    `old` is the operator in the old plan.
    """
    kept = _kept_rows(tables, saved, change, old)
    return list(kind_of(old).conversions(kept, saved, change, old))


def check_change(saved: SavedOperator, change: OperatorChange) -> None:
    """Raises RuntimeFault for what this version cannot carry out."""
    computed = change.backfill or ()
    for cell in change.cells:
        if cell.opaque and cell.id not in computed:
            reason = f"`{cell.id}` would start with a buffer that only Spark can create"
            raise unfit(saved.id, reason, "have it backfilled, or leave it out of the spec")


def _kept_rows(
    tables: Mapping[str, DataFrame], saved: SavedOperator, change: OperatorChange, old: Operator
) -> Mapping[str, DataFrame]:
    """The tables without what a migration leaves behind."""
    if not change.where:
        return tables
    return kind_of(old).kept_rows(tables, saved.keys, change.where)
