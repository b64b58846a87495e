"""Tables of what an operator keeps: their names and columns, and Spark's stores to read them from.

What each kind of operator has is said by its class in `kinds`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..plan.plan import OperatorUse
from .types import nullable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructType

STATE = "state"
SIDES = ("left", "right")
WINDOW = "window"
EXPIRES = "expires_at"
MATCHED = "matched"
JOINED = "{side}-keyWithIndexToValue"
COUNTED = "{side}-keyToNumValues"


@dataclass(frozen=True, slots=True)
class Kept:
    """The tables of an operator, the columns of the first that are keys, and the others."""

    tables: dict[str, DataFrame]
    keys: tuple[str, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of an operator in a checkpoint; `number` is Spark's."""

    spark: SparkSession
    checkpoint: str
    number: int

    def read(self, store: str | None = None) -> DataFrame:
        """The keys and values of a store, each a struct, as the last batch has left them."""
        reader = self._reader()
        if store is not None:
            reader = reader.option("storeName", store)
        return reader.load(self.checkpoint).select("key", "value")

    def variable(self, name: str) -> DataFrame:
        """What a program keeps under a name."""
        return self._reader().option("stateVarName", name).load(self.checkpoint)

    def has(self, name: str) -> bool:
        """Whether a program keeps anything under a name."""
        from pyspark.sql import functions as F

        _ = self.spark.streams.active
        known = self.spark.read.format("state-metadata").load(self.checkpoint)
        own = known.where(F.col("operatorId") == self.number).select("operatorProperties")
        return any(name in _variables(row[0]) for row in own.collect())

    def _reader(self) -> DataFrameReader:
        # The reader needs what this starts.
        _ = self.spark.streams.active
        return self.spark.read.format("statestore").option("operatorId", self.number)


def _variables(properties: str) -> set[str]:
    """The names in Spark's note on the state of a program."""
    found = json.loads(properties or "{}").get("stateVariables", [])
    return {one["stateName"] for one in found}


def cell_names(use: OperatorUse) -> list[str]:
    """The cells of an aggregate in the order of its buffers in Spark's state."""
    return [cell.id for aggregate in use.aggregates for cell in aggregate.cells]


def join_key(place: int) -> str:
    """The name of a join's key, whose names on the two sides may differ."""
    return f"key_{place + 1}"


def fields(store: DataFrame, part: str) -> list[str]:
    """The names of the columns in the key or the value of a store."""
    kind: StructType = store.schema[part].dataType  # type: ignore[assignment]
    return [field.name for field in kind.fields]


def both(store: DataFrame, keys: Sequence[str], values: Sequence[str]) -> DataFrame:
    """A store with other names, since Spark's buffers may have duplicate ones."""
    return store.select(
        renamed(store, "key", len(keys)), renamed(store, "value", len(values))
    ).select(*_columns("key", keys), *_columns("value", values))


def flat(store: DataFrame, part: str, names: Sequence[str]) -> DataFrame:
    """The key or the value of a store, with other names."""
    return store.select(renamed(store, part, len(names))).select(*_columns(part, names))


def renamed(store: DataFrame, part: str, count: int) -> Column:
    """A struct with numbers as field names; raises ValueError if it has more fields."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructField, StructType

    kind: StructType = store.schema[part].dataType  # type: ignore[assignment]
    if len(kind.fields) != count:
        raise ValueError(f"{count} columns for {kind.simpleString()}")
    numbered = [StructField(f"_{n}", nullable(f.dataType)) for n, f in enumerate(kind.fields)]
    return F.col(part).cast(StructType(numbered)).alias(part)


def _columns(part: str, names: Sequence[str]) -> Iterator[Column]:
    from pyspark.sql import functions as F

    for number, name in enumerate(names):
        yield F.col(f"{part}._{number}").alias(name)
