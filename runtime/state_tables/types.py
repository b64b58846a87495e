"""Types of columns in files, where nothing is known about NULLs, unlike in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


def nullable(kind: DataType) -> DataType:
    """The type with all of its parts nullable."""
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    match kind:
        case StructType():
            return StructType([StructField(f.name, nullable(f.dataType)) for f in kind.fields])
        case ArrayType():
            return ArrayType(nullable(kind.elementType))
        case MapType():
            return MapType(nullable(kind.keyType), nullable(kind.valueType))
    return kind
