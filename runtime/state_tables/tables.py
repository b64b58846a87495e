"""What a stateful operator keeps, read from Spark's stores into columns with names.

Of an aggregate: its keys, and a column a cell (`sum(amount)`, `avg(amount).sum`); a window is a
struct `window`, and a key of that name beside it is `key.window`. Of a deduplication: the keys, and
until when they are known. Of a join: a table a side, with the rows that wait for partners and
whether they have had one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...contracts.plan import Deduplication, Join, Program, keys_of, window_of
from ..base.options import quoted
from ..plan.plan import OperatorUse
from .program_state import POSITION, program_tables
from .types import nullable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from ...contracts.plan import Operator

STATE = "state"
SIDES = ("left", "right")
WINDOW = "window"
SESSION_WINDOW = "session_window"
EXPIRES = "expires_at"
MATCHED = "matched"
_COMPUTED = "_groupingexpression"
JOINED = "{side}-keyWithIndexToValue"
COUNTED = "{side}-keyToNumValues"


@dataclass(frozen=True, slots=True)
class Kept:
    """The tables of an operator, the columns of the first that are keys, and those that are not."""

    tables: dict[str, DataFrame]
    keys: tuple[str, ...]
    cells: tuple[str, ...]


def read_tables(spark: SparkSession, checkpoint: str, number: int, use: OperatorUse) -> Kept:
    """What an operator of a query keeps after the last batch of a checkpoint.

    `number` is the one that Spark knows it by.
    """
    # The reader needs what this starts.
    _ = spark.streams.active
    match use.operator:
        case Join() as join:
            return _join(spark, checkpoint, number, join)
        case Deduplication():
            return _dedup(read_store(spark, checkpoint, number))
        case Program() as program:
            return Kept(*program_tables(spark, checkpoint, number, program))
    return _aggregate(read_store(spark, checkpoint, number), use)


def read_store(
    spark: SparkSession, checkpoint: str, number: int, store: str | None = None
) -> DataFrame:
    """The keys and values of a store, each a struct."""
    reader = spark.read.format("statestore").option("operatorId", number)
    if store is not None:
        reader = reader.option("storeName", store)
    return reader.load(checkpoint).select("key", "value")


def is_session(operator: Operator) -> bool:
    """Whether an operator's windows are sessions, whose state has a form of its own."""
    window = window_of(operator)
    return window is not None and window.kind == "session"


def cell_names(use: OperatorUse) -> list[str]:
    """The cells of an aggregate as its buffers lie in Spark's state."""
    return [cell.id for aggregate in use.aggregates for cell in aggregate.cells]


def key_names(operator: Operator, held: Sequence[str]) -> list[str]:
    """What the keys of a group are called in the plan; `held` are their names in a store.

    There all that are computed have one name.
    """
    windowed = window_of(operator) is not None
    window = [WINDOW] if windowed and not is_session(operator) else []
    names = [*window, *(_beside_window(windowed, key.name) for key in keys_of(operator))]
    return names if len(names) == len(held) else list(held)


def _beside_window(windowed: bool, name: str) -> str:
    return f"key.{name}" if windowed and name.lower() == WINDOW else name


def _aggregate(store: DataFrame, use: OperatorUse) -> Kept:
    if is_session(use.operator):
        keys = [WINDOW, *key_names(use.operator, fields(store, "key")[:-1])]
        columns = [*keys, *cell_names(use)]
        return Kept({STATE: flat(store, "value", columns)}, tuple(keys), tuple(cell_names(use)))
    keys, cells = key_names(use.operator, fields(store, "key")), cell_names(use)
    frame = both(store, keys, cells)
    return Kept({STATE: frame}, tuple(keys), tuple(cells))


def _dedup(store: DataFrame) -> Kept:
    from pyspark.sql import functions as F

    keys = fields(store, "key")
    expires = F.expr("timestamp_micros(value.expiresAtMicros)").alias(EXPIRES)
    columns = [F.col(f"key.{quoted(key)}") for key in keys]
    return Kept({STATE: store.select(*columns, expires)}, tuple(keys), (EXPIRES,))


def _join(spark: SparkSession, checkpoint: str, number: int, join: Join) -> Kept:
    tables: dict[str, DataFrame] = {}
    for side, planned in zip(SIDES, join.sides, strict=True):
        store = read_store(spark, checkpoint, number, JOINED.format(side=side))
        names = [*(key_column(place) for place in range(len(planned.keys))), POSITION]
        tables[side] = both(store, names, fields(store, "value"))
    first = [key_column(place) for place in range(len(join.sides[0].keys))]
    return Kept(tables, tuple(first), tuple(tables[SIDES[0]].columns[len(first) :]))


def key_column(place: int) -> str:
    """The name of a join's key: what it is called on either side may differ."""
    return f"key_{place + 1}"


def fields(store: DataFrame, part: str) -> list[str]:
    """The names of the columns in the key or the value of a store."""
    kind: StructType = store.schema[part].dataType  # type: ignore[assignment]
    return [field.name for field in kind.fields]


def both(store: DataFrame, keys: Sequence[str], values: Sequence[str]) -> DataFrame:
    """A store with other names, which Spark's buffers may have twice."""
    return store.select(
        renamed(store, "key", len(keys)), renamed(store, "value", len(values))
    ).select(*_columns("key", keys), *_columns("value", values))


def flat(store: DataFrame, part: str, names: Sequence[str]) -> DataFrame:
    """The key or the value of a store, with other names."""
    return store.select(renamed(store, part, len(names))).select(*_columns(part, names))


def renamed(store: DataFrame, part: str, count: int) -> Column:
    """A struct whose fields have numbers for names; raises ValueError if it has more of them."""
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
