"""Sinks that replace rows: which row of a key is the latest.

That is the one with the latest event time, and of several at one instant the one that the stream
emitted last: a running sum that changes twice within an instant ends with its last value. Rows from
a shuffle have no meaningful order. Of those the greatest wins, so that it is the same one whenever
the batch is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.errors import BAD_OPTION, RuntimeFault
from ..base.options import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row
    from pyspark.sql.types import DataType

PLACE = "__streamc_place"
"""The column of places; the kernel's `Places` adds it."""


@dataclass(frozen=True, slots=True)
class Upsert:
    """The columns of a sink's key, and the event time that says which row of a key is the latest.

    Without one, no two rows of a batch have the same key, and a later batch's rows are later.
    """

    key: tuple[str, ...]
    latest_by: str | None = None

    def latest(self, batch: DataFrame) -> DataFrame:
        """The rows of a batch, which may have places, one of each key: the latest, without them."""
        from pyspark.sql import functions as F

        if self.latest_by is None:
            return without_places(batch)
        columns = [name for name in batch.columns if name != PLACE]
        row = F.struct(*[_column(name) for name in columns]).alias("row")
        ties = [PLACE] if PLACE in batch.columns else _ordered(batch)
        order = F.struct(*[_column(name) for name in (self.latest_by, *ties)]).alias("order")
        rows = batch.select(row, order)
        keys = [_column("row", name).alias(f"key{n}") for n, name in enumerate(self.key)]
        return rows.groupBy(*keys).agg(F.max_by("row", "order").alias("row")).select("row.*")

    def key_of(self, row: Row) -> tuple[object, ...]:
        """The values of a row's key."""
        return tuple(_hashable(row[name]) for name in self.key)

    def replaces(self, row: Row, known: Row) -> bool:
        """Whether a row of this batch replaces one of an earlier batch."""
        if self.latest_by is None or known[self.latest_by] is None:
            return True
        return row[self.latest_by] is not None and row[self.latest_by] >= known[self.latest_by]


def with_places(kernel: Any, frame: DataFrame) -> DataFrame:
    """The rows of a query with their places, if their order is meaningful."""
    return type(frame)(kernel.Places.number(frame._jdf), frame.sparkSession)


def without_places(batch: DataFrame) -> DataFrame:
    """A batch as its query declares it."""
    return batch.drop(PLACE) if PLACE in batch.columns else batch


def take_key(owner: str, options: dict[str, Any]) -> tuple[tuple[str, ...], Upsert | None]:
    """Takes mode and key of a sink out of `options`: the columns, and how rows are replaced."""
    mode = options.pop("mode", "append")
    if mode not in ("append", "upsert"):
        raise RuntimeFault(BAD_OPTION, f"{owner} has mode `{mode}`", "known: append, upsert")
    key = tuple(options.pop("key", ()))
    if mode == "append":
        return key, None
    if not key:
        raise RuntimeFault(BAD_OPTION, f"{owner} replaces rows and has no key", "compile again")
    return key, Upsert(key, options.pop("latest_by", None))


def _column(*path: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(".".join(quoted(name) for name in path))


def _ordered(batch: DataFrame) -> list[str]:
    """The columns whose values Spark can compare."""
    return [field.name for field in batch.schema.fields if _orderable(field.dataType)]


def _orderable(type_: DataType) -> bool:
    from pyspark.sql import types as T

    match type_:
        case T.ArrayType():
            return _orderable(type_.elementType)
        case T.StructType():
            return all(_orderable(field.dataType) for field in type_.fields)
    return not isinstance(type_, T.MapType | T.VariantType)


def _hashable(value: object) -> object:
    if isinstance(value, float) and value != value:
        return "NaN"  # which to Python is another one each time
    return bytes(value) if isinstance(value, bytearray) else value
