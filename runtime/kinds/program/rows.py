"""Tables of a keyed program as its initial rows, in the form of `InitialState.scala`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ....contracts.plan import Program
from ...base.errors import unfit
from ...base.options import quoted
from ...state_tables.program_state import (
    POSITION,
    RECORD,
    WAITING,
    WRITTEN,
    key_names,
    record_names,
)
from ...state_tables.types import nullable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructField, StructType


def state_rows(
    schema: StructType, tables: Mapping[str, DataFrame], program: Program, spark: SparkSession
) -> DataFrame:
    """Tables as the initial rows of a program; `schema` is the kernel's.

    Raises RuntimeFault for a column that the program needs and no table has.
    """
    from functools import reduce

    from pyspark.sql import DataFrame

    pieces = []
    for name, table in _wanted_tables(schema, tables, program):
        order = [*map(quoted, key_names(program).values()), POSITION]
        ordered = table.orderBy(*order) if _is_list(table) else table
        pieces.append(_piece(schema, name, ordered, program))
    if not pieces:
        return spark.createDataFrame([], schema)
    return reduce(DataFrame.unionAll, pieces)


def placed_rows(
    schema: StructType, tables: Mapping[str, DataFrame], program: Program, partitions: int
) -> list[DataFrame]:
    """The rows of `state_rows`, a frame a table, in the partitions of the operator.

    Raises RuntimeFault for a column that the program needs and no table has.
    """
    placed = []
    for name, table in _wanted_tables(schema, tables, program):
        keys = [_key(field, table, program) for field in schema.fields[: len(program.keys) or 1]]
        spread = table.repartition(partitions, *keys)
        ordered = spread.sortWithinPartitions(POSITION) if _is_list(table) else spread
        placed.append(_piece(schema, name, ordered, program))
    return placed


def _wanted_tables(
    schema: StructType, tables: Mapping[str, DataFrame], program: Program
) -> Iterator[tuple[str, DataFrame]]:
    # Keys come first, and may have the name of a piece.
    pieces = schema.fields[len(key_names(program)) :]
    return ((f.name, tables[f.name]) for f in pieces if f.name in tables)


def _piece(schema: StructType, name: str, table: DataFrame, program: Program) -> DataFrame:
    from pyspark.sql import functions as F

    keys = key_names(program)
    columns: list[Column] = []
    for place, field in enumerate(schema.fields):
        if place < len(keys):
            column = _key(field, table, program)
        elif field.name == name:
            column = _packed(name, field.dataType, table, program)
        else:
            column = F.lit(None).cast(nullable(field.dataType))
        columns.append(column.alias(field.name))
    return table.select(*columns)


def _key(field: StructField, table: DataFrame, program: Program) -> Column:
    """A key of a row, with the program's type."""
    from pyspark.sql import functions as F

    name = key_names(program)[field.name]
    held = F.col(quoted(name)) if name in table.columns else F.lit(None)
    return held.cast(nullable(field.dataType))


def _is_list(table: DataFrame) -> bool:
    return POSITION in table.columns and "key" not in table.columns


def _packed(name: str, kind: Any, table: DataFrame, program: Program) -> Column:
    """The columns of a table as the struct of a piece."""
    from pyspark.sql import functions as F

    known = record_names(program) if name == RECORD else {}
    wanted = []
    for field in kind.fields:
        if name == WAITING and field.name == "row":
            row = [_wanted(f, f.name, table, program) for f in field.dataType.fields]
            wanted.append(F.struct(*row).cast(nullable(field.dataType)).alias("row"))
        else:
            wanted.append(_wanted(field, known.get(field.name, field.name), table, program))
    return F.struct(*wanted).cast(nullable(kind))


def _wanted(field: Any, name: str, table: DataFrame, program: Program) -> Column:
    from pyspark.sql import functions as F

    if name not in table.columns:
        if name.rpartition(".")[2] != WRITTEN:
            raise unfit(program.id, f"the savepoint has no `{name}`")
        # It had no TTL before: its time begins now.
        return F.expr("unix_micros(current_timestamp())").alias(field.name)
    return F.col(quoted(name)).cast(nullable(field.dataType)).alias(field.name)
