"""Sinks that replace rows: which row of a key is the latest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import BAD_OPTION, RuntimeFault
from .options import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row
    from pyspark.sql.types import DataType


@dataclass(frozen=True, slots=True)
class Upsert:
    """The columns of a sink's key, and the event time that says which row of a key is the latest.

    Without one, no two rows of a batch have the same key, and those of a later batch are later.
    """

    key: tuple[str, ...]
    latest_by: str | None = None

    def latest(self, batch: DataFrame) -> DataFrame:
        """The rows of a batch, one of each key: the latest, of equal instants the greatest."""
        from pyspark.sql import functions as F

        if self.latest_by is None:
            return batch
        columns = [_column(name) for name in batch.columns]
        order = [_column(self.latest_by), *(_column(n) for n in _ordered(batch))]
        found = F.max_by(F.struct(*columns), F.struct(*order)).alias("row")
        return batch.groupBy(*[_column(n) for n in self.key]).agg(found).select("row.*")

    def key_of(self, row: Row) -> tuple[object, ...]:
        """The values of a row's key."""
        return tuple(_hashable(row[name]) for name in self.key)

    def replaces(self, row: Row, known: Row) -> bool:
        """Whether a row of this batch takes the place of one of an earlier batch."""
        if self.latest_by is None or known[self.latest_by] is None:
            return True
        return row[self.latest_by] is not None and row[self.latest_by] >= known[self.latest_by]


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


def _column(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(quoted(name))


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
    return bytes(value) if isinstance(value, bytearray) else value
