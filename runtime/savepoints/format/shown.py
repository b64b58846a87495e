"""Values of a savepoint as text, in Spark's form: instants in UTC, structs in braces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.options import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def shown(value: Column, kind: DataType) -> Column:
    """A value as text; NULL stays NULL."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType

    if isinstance(kind, BinaryType):
        return F.concat(F.lit("X'"), F.hex(value), F.lit("'"))
    return value.cast("string")


def shown_columns(rows: DataFrame, names: tuple[str, ...]) -> list[Column]:
    """Columns as text, in their order."""
    from pyspark.sql import functions as F

    return [shown(F.col(quoted(name)), rows.schema[name].dataType) for name in names]
