"""What a keyed program has kept, read from a checkpoint by Spark's own reader of states.

The kernel keeps of each key a record of its values and timers, the entries of each map, set and
list one by one, and the rows that wait; see `KeyState.scala`. Names are those that Avro takes.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from .options import quoted
from .plan import Cell, Operator

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

WAITING = "waiting"
_KEYLESS = "all"
"""The key of a program that has none."""
_VALUE, _TIMER = "value_", "timer_"


def read_program_state(
    spark: SparkSession, checkpoint: str, number: int, operator: Operator
) -> DataFrame:
    """A row for each key that has any state after the last batch.

    Its columns are the keys, the cells as they read whole (a set and a list as an array, of a set
    in the order of its elements), the timers as instants, and how many rows wait. `number` is the
    one that Spark knows the operator by. What has outlived its TTL is there until it is taken away.
    """
    from pyspark.sql import functions as F

    # The reader needs what this starts.
    _ = spark.streams.active
    state = _Variables(spark, checkpoint, number, operator)
    parts = [state.record(), *map(state.entries, state.collections)]
    if operator.ordered:
        parts.append(state.waiting())
    joined = reduce(lambda one, other: one.join(other, state.keys, "full"), parts)
    columns = [F.col(quoted(key)).alias(name) for key, name in state.names]
    columns += [state.cell(cell) for cell in operator.cells]
    columns += [F.col(quoted(f"{_TIMER}{name}")).alias(name) for name in operator.timers]
    if operator.ordered and WAITING not in {cell.name for cell in operator.cells}:
        columns.append(F.coalesce(F.col(quoted(WAITING)), F.lit(0)).alias(WAITING))
    return joined.select(*columns)


class _Variables:
    """The state variables of a program in a checkpoint."""

    def __init__(
        self, spark: SparkSession, checkpoint: str, number: int, operator: Operator
    ) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        self._number = number
        self._operator = operator
        self.names = [(state_name(key.name), key.name) for key in operator.keys]
        self.keys = [key for key, _ in self.names] or [_KEYLESS]
        self.collections = [cell for cell in operator.cells if cell.kind != "value"]

    def record(self) -> DataFrame:
        """Keys, values, timers; `kept` says that there is a record."""
        from pyspark.sql import functions as F

        values = [cell for cell in self._operator.cells if cell.kind == "value"]
        return self._read("record").select(
            *self._keys(),
            F.lit(True).alias("kept"),
            *(_field(f"{_VALUE}{state_name(c.name)}", f"{_VALUE}{c.name}") for c in values),
            *(_field(f"{_TIMER}{state_name(t)}", f"{_TIMER}{t}") for t in self._operator.timers),
        )

    def entries(self, cell: Cell) -> DataFrame:
        """Keys, and a map, set or list as a whole."""
        from pyspark.sql import functions as F

        found = self._read(f"cell_{state_name(cell.name)}", flat=False)
        if cell.kind == "list":
            whole = F.transform("list_value", lambda element: element["value"])
        elif cell.kind == "set":
            whole = F.array_sort(F.transform(F.map_keys("map_value"), lambda key: key["key"]))
        else:
            entries = F.map_entries("map_value")
            whole = F.map_from_entries(
                F.transform(entries, lambda e: F.struct(e["key"]["key"], e["value"]["value"]))
            )
        return found.select(*self._keys(), whole.alias(f"{_VALUE}{cell.name}"))

    def waiting(self) -> DataFrame:
        """Keys, and the number of rows that the watermark has not passed."""
        from pyspark.sql import functions as F

        keys = self._read(WAITING).select(*self._keys())
        return keys.groupBy(*self.keys).agg(F.count(F.lit(1)).alias(WAITING))

    def cell(self, cell: Cell) -> Column:
        """A cell of a key that may have no record, or no entries."""
        from pyspark.sql import functions as F

        held = F.col(quoted(f"{_VALUE}{cell.name}"))
        if cell.kind == "map":
            none = F.expr(f"cast(map() as {cell.type})")
        elif cell.kind != "value":
            none = F.expr(f"cast(array() as {cell.type})")
        else:
            default = F.expr(cell.default or "NULL").cast(cell.type or "string")
            return F.when(F.col("kept"), held).otherwise(default).alias(cell.name)
        return F.coalesce(held, none).alias(cell.name)

    def _read(self, variable: str, *, flat: bool = True) -> DataFrame:
        return (
            self._spark.read.format("statestore")
            .option("operatorId", self._number)
            .option("stateVarName", variable)
            .option("flattenCollectionTypes", str(flat).lower())
            .load(self._checkpoint)
        )

    def _keys(self) -> list[Column]:
        return [_field(key, key, "key") for key in self.keys]


def state_name(name: str) -> str:
    """A name as the kernel writes it in a state."""
    kept = (c if c.isascii() and (c.isalnum() or c == "_") else f"_x{ord(c):04x}" for c in name)
    return "".join(kept)


def _field(name: str, alias: str, of: str = "value") -> Column:
    from pyspark.sql import functions as F

    return F.col(f"{of}.{quoted(name)}").alias(alias)
