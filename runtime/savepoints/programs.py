"""What a keyed program keeps, as tables: a record a key, entries of cells, rows that wait.

The kernel's `InitialState.scala` takes the same pieces back, under the names that it has for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..options import quoted
from ..plan import Operator
from ..program_state import state_name
from .types import nullable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

RECORD = "record"
WAITING = "waiting"
ENTRY, POSITION = ("key", "value", "written"), "position"
_KEYLESS = "all"
_INNER = ("armed", "number", "sweep")
"""Of a record: when Spark wakes the key, the number of its next row, when TTLs are looked at."""

_PLAIN = "CAST(conv({bytes}, 16, -10) AS BIGINT) ^ (-9223372036854775807L - 1L)"


def program_tables(
    spark: SparkSession, checkpoint: str, number: int, operator: Operator
) -> tuple[dict[str, DataFrame], tuple[str, ...], tuple[str, ...]]:
    """The tables of a program, its keys, and the columns of its records."""
    keys = key_names(operator)

    def read(variable: str) -> DataFrame:
        reader = spark.read.format("statestore").option("operatorId", number)
        return reader.option("stateVarName", variable).load(checkpoint)

    found = read(RECORD)
    names = record_names(operator)
    held = [f.name for f in found.schema["value"].dataType.fields]  # type: ignore[attr-defined]
    tables = {
        RECORD: found.select(*_keys(keys), *(_of("value", raw, names[raw]) for raw in held)),
    }
    for cell in operator.cells:
        if cell.kind != "value":
            variable = entry_table(cell.name)
            tables[variable] = _entries(read(variable), keys, cell.kind)
    if operator.ordered:
        tables[WAITING] = _waiting(read(WAITING), keys)
    return tables, tuple(keys.values()), tuple(names[raw] for raw in held)


def key_names(operator: Operator) -> Mapping[str, str]:
    """The keys by the names that the state has for them; one that is the same for all, if none."""
    found = {state_name(key.name): key.name for key in operator.keys}
    return found or {_KEYLESS: _KEYLESS}


def record_names(operator: Operator) -> dict[str, str]:
    """The columns of a record by the names that the state has for them.

    When a value was written is `<cell>.written`; what belongs to no cell begins with a point.
    """
    values = [cell.name for cell in operator.cells if cell.kind == "value"]
    return {
        **{f"value_{state_name(name)}": name for name in values},
        **{f"written_{state_name(name)}": f"{name}.written" for name in values},
        **{f"timer_{state_name(name)}": name for name in operator.timers},
        **{name: f".{name}" for name in _INNER},
    }


def entry_table(cell: str) -> str:
    """The table of a cell with entries."""
    return f"cell_{state_name(cell)}"


def initial_state(
    schema: StructType, tables: Mapping[str, DataFrame], operator: Operator, spark: SparkSession
) -> DataFrame:
    """Tables as the rows that a program begins with; `schema` is that of the kernel for it.

    Raises ValueError for a column that the program needs and no table has.
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
            row = [_wanted(f, f.name, table) for f in field.dataType.fields]
            wanted.append(F.struct(*row).cast(nullable(field.dataType)).alias("row"))
        else:
            wanted.append(_wanted(field, known.get(field.name, field.name), table))
    return F.struct(*wanted).cast(nullable(kind))


def _wanted(field: Any, name: str, table: DataFrame) -> Column:
    from pyspark.sql import functions as F

    if name not in table.columns:
        raise ValueError(f"there is no column `{name}`")
    return F.col(quoted(name)).cast(nullable(field.dataType)).alias(field.name)


def _entries(store: DataFrame, keys: Mapping[str, str], kind: str) -> DataFrame:
    from pyspark.sql import functions as F

    if kind == "list":
        place = F.monotonically_increasing_id().alias(POSITION)
        return store.select(*_keys(keys), place, "list_element.*")
    held = [f.name for f in store.schema["user_map_value"].dataType.fields]  # type: ignore[attr-defined]
    return store.select(
        *_keys(keys),
        F.col("user_map_key.key").alias("key"),
        *(F.col(f"user_map_value.{name}").alias(name) for name in held),
    )


def _waiting(store: DataFrame, keys: Mapping[str, str]) -> DataFrame:
    from pyspark.sql import functions as F

    return store.select(
        *_keys(keys),
        *(F.expr(_plain(f"user_map_key.{name}")).alias(name) for name in ("at", "number")),
        "user_map_value.*",
    )


def _plain(column: str) -> str:
    """A number as it was before its bytes were put in the order of numbers."""
    digits = f"lpad(hex({column}), 16, '0')"
    pairs = ", ".join(f"substr({digits}, {at}, 2)" for at in range(15, 0, -2))
    return _PLAIN.format(bytes=f"concat({pairs})")


def _keys(keys: Mapping[str, str]) -> Iterator[Column]:
    return (_of("key", raw, name) for raw, name in keys.items())


def _of(part: str, name: str, alias: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(f"{part}.{quoted(name)}").alias(alias)
