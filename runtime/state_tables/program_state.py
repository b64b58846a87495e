"""The state of a keyed program, read from a checkpoint by Spark's own state reader.

For each key the kernel keeps a record of its values and timers, the entries of each map, set and
list one by one, and the waiting rows; see `KeyState.scala`. Names there are those that Avro allows
(`StateName.scala`), and are converted here to those of the spec.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...contracts.plan import Program, key_column
from ..base.options import quoted
from .tables import Kept, Stores

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

RECORD = "record"
WAITING = "waiting"
POSITION = "position"
WRITTEN = "written"
ARMED = ".armed"
"""When Spark wakes a key, in milliseconds of the program's clock."""

_KEYLESS = "all"
_FRAME = ".rows"

INNER = (ARMED, ".number", ".sweep")
"""Columns of a record: when Spark wakes the key, the number of its next row, its next TTL check."""

_WRITTEN = re.compile(r"_x(?=[0-9a-f]{4})")
_CODE = re.compile(r"_x([0-9a-f]{4})")

_PLAIN = "CAST(conv({bytes}, 16, -10) AS BIGINT) ^ (-9223372036854775807L - 1L)"


def program_tables(stores: Stores, program: Program) -> Kept:
    """The tables of a program; keys and cells are those of its records.

    A record has the keys, the values, the timers as instants and what is said by `record_names`;
    an entry its key and value, of a list its position. The rows of a frame, which the kernel
    stores one by one, are the list that is its value. What has outlived its TTL is there until the
    program has taken it away.
    """
    keys = key_names(program)
    found = stores.variable(RECORD)
    names = record_names(program)
    framed = {entry: cell for cell in _lists(program) if stores.has(entry := frame_table(cell))}
    held = [f.name for f in found.schema["value"].dataType.fields]  # type: ignore[attr-defined]
    tables = {
        RECORD: found.select(*_keys(keys), *(_of("value", raw, names[raw]) for raw in held)),
    }
    for entry, frame in framed.items():
        rows = _frame_rows(stores.variable(entry), keys)
        tables[RECORD] = _with_frame(tables[RECORD], rows, [*keys.values()], frame)
    for cell in program.cells:
        if cell.kind != "value":
            variable = entry_table(cell.id)
            tables[variable] = _entries(stores.variable(variable), keys, cell.kind)
    if program.ordered:
        tables[WAITING] = _waiting(stores.variable(WAITING), keys)
    tables = {name: _with_plain_fields(table) for name, table in tables.items()}
    return Kept(tables, tuple(keys.values()), tuple(names[raw] for raw in held))


def program_schema(kernel: Any, frame: DataFrame) -> StructType:
    """The columns of the state that the program of a frame may begin with."""
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads(kernel.Keyed.stateSchema(frame._jdf)))


def key_names(program: Program) -> Mapping[str, str]:
    """The keys by their names in the state; a constant one if there are none."""
    found = {_name_alone(key.name): key_column(program, key.name) for key in program.keys}
    return found or {_KEYLESS: _KEYLESS}


def record_names(program: Program) -> dict[str, str]:
    """The columns of a record by their names in the state.

    The time when a value was written is `<cell>.written`; names without a cell begin with a dot.
    """
    values = [cell.id for cell in program.cells if cell.kind == "value"]
    return {
        **{f"value_{state_name(name)}": name for name in values},
        **{f"written_{state_name(name)}": f"{name}.{WRITTEN}" for name in values},
        **{f"timer_{state_name(timer.id)}": timer.id for timer in program.timers},
        **{name.removeprefix("."): name for name in INNER},
    }


def frame_table(cell: str) -> str:
    """What the kernel keeps the rows of a frame under, and the number of each."""
    return f"frame_{state_name(cell)}"


def entry_table(cell: str) -> str:
    """The table of a cell with entries."""
    return f"cell_{state_name(cell)}"


def state_name(name: str) -> str:
    """A name in the kernel's form in a state."""
    units = name.encode("utf-16-be", "surrogatepass")
    codes = (int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2))
    # Text that looks like an escaped character has its own `_` escaped.
    escaped = _WRITTEN.sub("\0x", "".join(map(chr, codes))).replace("\0", _unit("_"))
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else _unit(c) for c in escaped)


def _name_alone(name: str) -> str:
    """A name without a prefix, in the kernel's form: none begins with a digit."""
    if name[:1].isascii() and name[:1].isdigit():
        return _unit(name[0]) + state_name(name[1:])
    return state_name(name)


def _unit(character: str) -> str:
    return f"_x{ord(character):04x}"


def plain_name(written: str) -> str:
    """The name of an escaped one in a state."""
    units = _CODE.sub(lambda found: chr(int(found[1], 16)), written)
    return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")


def _with_plain_fields(table: DataFrame) -> DataFrame:
    """The table with the fields of its structs, at every depth, named as in the spec."""
    from pyspark.sql import functions as F

    named = _plain_fields(table.schema)
    if named == table.schema:
        return table
    return table.select(
        *(
            F.col(quoted(now.name)).cast(then.dataType).alias(now.name)
            for now, then in zip(table.schema, named, strict=True)
        )
    )


def _plain_fields(kind: Any) -> Any:
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    if isinstance(kind, StructType):
        return StructType(
            [StructField(plain_name(f.name), _plain_fields(f.dataType), f.nullable) for f in kind]
        )
    if isinstance(kind, ArrayType):
        return ArrayType(_plain_fields(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        key, held = _plain_fields(kind.keyType), _plain_fields(kind.valueType)
        return MapType(key, held, kind.valueContainsNull)
    return kind


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


def _lists(program: Program) -> Iterator[str]:
    """The values that may be frames."""
    for cell in program.cells:
        if cell.kind == "value" and (cell.type or "").startswith("ARRAY<STRUCT<"):
            yield cell.id


def _frame_rows(store: DataFrame, keys: Mapping[str, str]) -> DataFrame:
    """For each key the list of the rows of a frame."""
    from pyspark.sql import functions as F

    number, row = F.col("user_map_key.number").alias("number"), F.col("user_map_value.row")
    rows = store.select(*_keys(keys), number, row.alias("row")).where("number >= 0")
    # Numbers are unique: nothing else is compared.
    placed = F.array_sort(
        F.collect_list(F.struct("number", "row")),
        lambda one, other: (one["number"] - other["number"]).cast("int"),
    )
    whole = F.transform(placed, lambda one: one["row"]).alias(_FRAME)
    return rows.groupBy(*map(quoted, keys.values())).agg(whole)


def _with_frame(record: DataFrame, rows: DataFrame, keys: Sequence[str], cell: str) -> DataFrame:
    """Records with the rows of a frame as the value of its cell, where they are stored one by one.

    A list in the record itself is of a key without a turn since it was restored.
    """
    from pyspark.sql import functions as F

    own = {key: f"{_FRAME}{key}" for key in keys}
    keyed = (F.col(quoted(key)).alias(name) for key, name in own.items())
    other = rows.select(*keyed, F.col(quoted(_FRAME)))
    same = [F.col(quoted(key)).eqNullSafe(F.col(quoted(name))) for key, name in own.items()]
    kept = F.coalesce(F.col(quoted(_FRAME)), F.col(quoted(cell))).alias(cell)
    columns = (kept if name == cell else F.col(quoted(name)) for name in record.columns)
    return record.join(other, same, "left").select(*columns)


def _waiting(store: DataFrame, keys: Mapping[str, str]) -> DataFrame:
    from pyspark.sql import functions as F

    return store.select(
        *_keys(keys),
        *(F.expr(_plain(f"user_map_key.{name}")).alias(name) for name in ("at", "number")),
        "user_map_value.*",
    )


def _plain(column: str) -> str:
    """A number decoded from its sortable bytes."""
    digits = f"lpad(hex({column}), 16, '0')"
    pairs = ", ".join(f"substr({digits}, {at}, 2)" for at in range(15, 0, -2))
    return _PLAIN.format(bytes=f"concat({pairs})")


def _keys(keys: Mapping[str, str]) -> Iterator[Column]:
    return (_of("key", raw, name) for raw, name in keys.items())


def _of(part: str, name: str, alias: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(f"{part}.{quoted(name)}").alias(alias)
