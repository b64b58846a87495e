"""Tables in the form in which the stores of a new checkpoint have them.

What the stores look like is read from the checkpoint, whose first batch has made them: columns go
to their keys by name and to their values by the plan's order of cells, with the types of the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...contracts.plan import Deduplication, Join
from ..base.errors import unfit
from ..base.options import quoted
from ..plan.plan import OperatorUse
from .program_state import POSITION
from .tables import (
    COUNTED,
    EXPIRES,
    JOINED,
    SIDES,
    STATE,
    WINDOW,
    cell_names,
    fields,
    is_session,
    key_column,
    key_names,
    read_store,
    renamed,
)
from .types import nullable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class StoreRows:
    """The rows of a store: `key` and `value`, in the operator's partitions.

    A store can be scanned by the first `prefix` columns of its key, if that is not 0.
    """

    store: str
    rows: DataFrame
    prefix: int = 0


def store_rows(
    spark: SparkSession,
    checkpoint: str,
    number: int,
    use: OperatorUse,
    tables: Mapping[str, DataFrame],
    partitions: int,
) -> Iterator[StoreRows]:
    """Yields what each store of an operator must hold, which is no program.

    Raises RuntimeFault when a table lacks a column that a store has.
    """
    _ = spark.streams.active
    target = _Target(spark, checkpoint, number, use, partitions)
    match use.operator:
        case Join():
            for side in SIDES:
                yield from target.side(side, tables[side])
        case Deduplication():
            yield target.dedup(tables[STATE])
        case operator if is_session(operator):
            yield target.sessions(tables[STATE])
        case _:
            yield target.aggregate(tables[STATE])


class _Target:
    def __init__(
        self, spark: SparkSession, checkpoint: str, number: int, use: OperatorUse, partitions: int
    ) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        self._number = number
        self._use = use
        self._partitions = partitions

    def aggregate(self, table: DataFrame) -> StoreRows:
        store = self._store()
        keys = key_names(self._use.operator, fields(store, "key"))
        cells = cell_names(self._use)
        rows = self._rows(store, table, keys, cells)
        return StoreRows(_DEFAULT, self._spread(rows, keys))

    def sessions(self, table: DataFrame) -> StoreRows:
        from pyspark.sql import functions as F

        store = self._store()
        keys = key_names(self._use.operator, fields(store, "key")[:-1])
        begun = table.withColumn(".start", F.col(f"{WINDOW}.start"))
        values = [WINDOW, *keys, *cell_names(self._use)]
        rows = self._rows(store, begun, [*keys, ".start"], values)
        return StoreRows(_DEFAULT, self._spread(rows, keys), prefix=len(keys))

    def dedup(self, table: DataFrame) -> StoreRows:
        from pyspark.sql import functions as F

        store = self._store()
        keys = fields(store, "key")
        counted = table.withColumn(EXPIRES, F.expr(f"unix_micros({EXPIRES})"))
        return StoreRows(_DEFAULT, self._spread(self._rows(store, counted, keys, [EXPIRES]), keys))

    def side(self, side: str, table: DataFrame) -> Iterator[StoreRows]:
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        name = JOINED.format(side=side)
        store = self._store(name)
        keys = [key_column(place) for place in range(len(fields(store, "key")) - 1)]
        order = Window.partitionBy(*keys).orderBy(POSITION)
        # Of a key the rows have numbers from zero, and how many there are is known apart.
        numbered = table.withColumn(POSITION, F.row_number().over(order).cast("bigint") - 1)
        values = fields(store, "value")
        rows = self._rows(store, numbered, [*keys, POSITION], values)
        yield StoreRows(name, self._spread(rows, keys))
        counts = table.groupBy(*keys).agg(F.count(F.lit(1)).alias("value"))
        counted = COUNTED.format(side=side)
        rows = self._rows(self._store(counted), counts, keys, ["value"])
        yield StoreRows(counted, self._spread(rows, keys))

    def _store(self, name: str | None = None) -> DataFrame:
        return read_store(self._spark, self._checkpoint, self._number, name)

    def _rows(
        self, store: DataFrame, table: DataFrame, keys: Sequence[str], values: Sequence[str]
    ) -> DataFrame:
        return table.select(
            self._struct(store, "key", table, keys), self._struct(store, "value", table, values)
        )

    def _struct(
        self, store: DataFrame, part: str, table: DataFrame, names: Sequence[str]
    ) -> Column:
        """Columns as a struct of a store, each with the type that it has there."""
        from pyspark.sql import functions as F

        kind: StructType = store.schema[part].dataType  # type: ignore[assignment]
        if len(kind.fields) != len(names):
            counts = f"{part} has {len(kind.fields)} columns, the savepoint {len(names)}"
            raise unfit(self._use.operator.id, counts)
        found: list[Column] = []
        for field, name in zip(kind.fields, names, strict=True):
            if name not in table.columns:
                raise unfit(self._use.operator.id, f"it has no `{name}`")
            column = F.col(quoted(name)).cast(nullable(field.dataType))
            found.append(column.alias(f"_{len(found)}"))
        return F.struct(*found).cast(nullable(kind)).alias(part)

    def _spread(self, rows: DataFrame, keys: Sequence[str]) -> DataFrame:
        """The rows in the partitions in which the operator looks for them."""
        if not keys:
            return rows.coalesce(1)
        # Keys that are computed may have one name there.
        key = renamed(rows, "key", len(fields(rows, "key")))
        columns = [key.getField(f"_{n}") for n in range(len(keys))]
        return rows.repartition(self._partitions, *columns)
