"""Cells of one state merged into the tables of another, key by key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..base.options import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KEY, CELL, FOUND = ".key {}", ".cell {}", ".found"


@dataclass(frozen=True, slots=True)
class Filled:
    """Tables with cells of another state, and how many keys had them.

    `lacking` keys of the tables are not in that state, `other` keys of it are not in the tables.
    """

    tables: dict[str, DataFrame]
    keys: int
    lacking: int
    other: int

    @classmethod
    def of(cls, tables: dict[str, DataFrame], joined: DataFrame, other: DataFrame) -> Filled:
        """Counts the rows of a table that was joined with another one."""
        from pyspark.sql import functions as F

        both = joined.agg(F.count(F.lit(1)), F.count(F.col(quoted(FOUND)))).head()
        assert both is not None
        keys, found = int(both[0]), int(both[1])
        return cls(tables, keys, keys - found, other.count() - found)


def numbered(table: DataFrame, keys: Sequence[str], cells: Sequence[str]) -> DataFrame:
    """Keys and cells by names that no column of a state has."""
    from pyspark.sql import functions as F

    return table.select(
        *(F.col(quoted(name)).alias(KEY.format(n)) for n, name in enumerate(keys)),
        *(F.col(quoted(name)).alias(CELL.format(n)) for n, name in enumerate(cells)),
        F.lit(True).alias(FOUND),
    )


def same_keys(keys: Sequence[str]) -> Column:
    """Whether a row and one of `numbered` have the same keys."""
    from pyspark.sql import functions as F

    found = F.lit(True)
    for number, name in enumerate(keys):
        found &= F.col(quoted(name)).eqNullSafe(F.col(quoted(KEY.format(number))))
    return found
