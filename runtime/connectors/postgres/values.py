"""Spark's types and values as PostgreSQL has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.options import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructField

_TYPES = {
    "BooleanType": "boolean",
    "ByteType": "smallint",
    "ShortType": "smallint",
    "IntegerType": "integer",
    "LongType": "bigint",
    "FloatType": "real",
    "DoubleType": "double precision",
    "StringType": "text",
    "BinaryType": "bytea",
    "DateType": "date",
    "TimestampType": "timestamptz",
    "TimestampNTZType": "timestamp",
}
"""PostgreSQL's equivalents of Spark's types; decimals keep theirs, all others become `jsonb`."""


def type_of(type_: DataType) -> str:
    """The type of a column, for a table that is made."""
    from pyspark.sql import types as T

    if isinstance(type_, T.DecimalType):
        return f"numeric({type_.precision}, {type_.scale})"
    return _TYPES.get(type(type_).__name__, "jsonb")


def as_text(field: StructField) -> Column:
    """A column in PostgreSQL's form; the session's time zone is UTC on both sides."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    column = F.col(quoted(field.name))
    if isinstance(field.dataType, T.BinaryType):
        return F.concat(F.lit("\\x"), F.hex(column)).alias(field.name)
    if isinstance(field.dataType, T.ArrayType | T.MapType | T.StructType | T.VariantType):
        return F.to_json(column).alias(field.name)
    return column.cast("string").alias(field.name)
