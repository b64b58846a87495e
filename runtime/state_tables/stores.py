"""Tables in the form of the stores of a new checkpoint.

The form of the stores is read from the checkpoint, whose first batch has created them: columns go
to their keys by name and to their values by the plan's order of cells, with the types of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.errors import unfit
from ..base.options import quoted
from .tables import Stores, fields, renamed
from .types import nullable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class StoreRows:
    """The rows of a store: `key` and `value`, in the operator's partitions.

    A store can be scanned by the first `prefix` columns of its key, unless that is 0.
    """

    rows: DataFrame
    store: str = "default"
    prefix: int = 0


@dataclass(frozen=True, slots=True)
class NewStores(Stores):
    """The stores of an operator that is to begin with some tables.

    The checkpoint has had one batch without input, and its query does not run. `frame` gives the
    rows that a program emits.
    """

    kernel: Any
    operator: str
    partitions: int
    frame: Callable[[str], DataFrame | None]

    def replace(self, made: StoreRows) -> int:
        """Has a store hold these rows, and returns how many they are."""
        written: int = self.kernel.StateWriter.replace(
            self.spark._jsparkSession,
            self.checkpoint,
            self.number,
            made.store,
            made.prefix,
            made.rows._jdf,
        )
        return written

    def rows(
        self, store: DataFrame, table: DataFrame, keys: Sequence[str], values: Sequence[str]
    ) -> DataFrame:
        """A table as keys and values of a store; raises RuntimeFault when it lacks a column."""
        return table.select(
            self._struct(store, "key", table, keys), self._struct(store, "value", table, values)
        )

    def _struct(
        self, store: DataFrame, part: str, table: DataFrame, names: Sequence[str]
    ) -> Column:
        """Columns as a struct of a store, each with its type there."""
        from pyspark.sql import functions as F

        kind: StructType = store.schema[part].dataType  # type: ignore[assignment]
        if len(kind.fields) != len(names):
            counts = f"{part} has {len(kind.fields)} columns, the savepoint {len(names)}"
            raise unfit(self.operator, counts)
        found: list[Column] = []
        for field, name in zip(kind.fields, names, strict=True):
            if name not in table.columns:
                raise unfit(self.operator, f"it has no `{name}`")
            column = F.col(quoted(name)).cast(nullable(field.dataType))
            found.append(column.alias(f"_{len(found)}"))
        return F.struct(*found).cast(nullable(kind)).alias(part)

    def spread(self, rows: DataFrame, keys: Sequence[str]) -> DataFrame:
        """The rows in the operator's partitions."""
        if not keys:
            return rows.coalesce(1)
        # Computed keys may all have the same name there.
        key = renamed(rows, "key", len(fields(rows, "key")))
        columns = [key.getField(f"_{n}") for n in range(len(keys))]
        return rows.repartition(self.partitions, *columns)
