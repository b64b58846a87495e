"""Tables of a keyed program as the rows that it begins with, as `InitialState.scala` takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..options import quoted
from ..plan import Operator
from ..program_state import POSITION, RECORD, WAITING, WRITTEN, key_names, record_names
from .model import unfit
from .types import nullable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType


def state_rows(
    schema: StructType, tables: Mapping[str, DataFrame], operator: Operator, spark: SparkSession
) -> DataFrame:
    """Tables as the rows that a program begins with; `schema` is that of the kernel for it.

    Raises RuntimeFault for a column that the program needs and no table has.
    """
    from functools import reduce

    from pyspark.sql import DataFrame

    pieces = [
        _piece(schema, field.name, tables[field.name], operator)
        for field in schema.fields
        if field.name in tables
    ]
    if not pieces:
        return spark.createDataFrame([], schema)
    return reduce(DataFrame.unionAll, pieces)


def _piece(schema: StructType, name: str, table: DataFrame, operator: Operator) -> DataFrame:
    from pyspark.sql import functions as F

    keys = key_names(operator)
    columns: list[Column] = []
    for field in schema.fields:
        if field.name in keys and keys[field.name] in table.columns:
            column = F.col(quoted(keys[field.name])).cast(nullable(field.dataType))
        elif field.name == name:
            column = _packed(name, field.dataType, table, operator)
        else:
            column = F.lit(None).cast(nullable(field.dataType))
        columns.append(column.alias(field.name))
    ordered = table.orderBy(*map(quoted, keys.values()), POSITION) if _is_list(table) else table
    return ordered.select(*columns)


def _is_list(table: DataFrame) -> bool:
    return POSITION in table.columns and "key" not in table.columns


def _packed(name: str, kind: Any, table: DataFrame, operator: Operator) -> Column:
    """The columns of a table as the struct that a piece of this name is."""
    from pyspark.sql import functions as F

    known = record_names(operator) if name == RECORD else {}
    wanted = []
    for field in kind.fields:
        if name == WAITING and field.name == "row":
            row = [_wanted(f, f.name, table, operator) for f in field.dataType.fields]
            wanted.append(F.struct(*row).cast(nullable(field.dataType)).alias("row"))
        else:
            wanted.append(_wanted(field, known.get(field.name, field.name), table, operator))
    return F.struct(*wanted).cast(nullable(kind))


def _wanted(field: Any, name: str, table: DataFrame, operator: Operator) -> Column:
    from pyspark.sql import functions as F

    if name not in table.columns:
        if name.rpartition(".")[2] != WRITTEN:
            raise unfit(operator.id, f"the savepoint has no `{name}`")
        # It was not forgotten before: its time begins now.
        return F.expr("unix_micros(current_timestamp())").alias(field.name)
    return F.col(quoted(name)).cast(nullable(field.dataType)).alias(field.name)
