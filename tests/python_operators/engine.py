"""Spark's part of an operator in Python, in memory: state, timers, epochs."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    Row,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)
from streamc.runtime.python_operator.instants import FIRST_MS, moment_of
from streamc.runtime.python_operator.plan import CellPlan, InputPlan, OperatorPlan, TimerPlan
from streamc.runtime.python_operator.turn import Turns

PLAIN: dict[str, DataType] = {
    "INT": IntegerType(),
    "BIGINT": LongType(),
    "TINYINT": ByteType(),
    "DOUBLE": DoubleType(),
    "BOOLEAN": BooleanType(),
    "STRING": StringType(),
    "BINARY": BinaryType(),
    "DATE": DateType(),
    "TIMESTAMP": TimestampType(),
    "TIMESTAMP_NTZ": TimestampNTZType(),
}


def ddl(text: str) -> StructType:
    """Columns, of the types that tests use; Spark's own parser wants a JVM."""
    pairs = (column.strip().split(" ", 1) for column in _parts(text))
    return StructType([StructField(name.rstrip(":"), _type(kind)) for name, kind in pairs])


def _type(text: str) -> DataType:
    text = text.strip()
    head, _, inner = text.rstrip(">)").partition("(" if text.endswith(")") else "<")
    inner = text[len(head) + 1 : -1]
    match head:
        case "DECIMAL":
            precision, scale = map(int, inner.split(","))
            return DecimalType(precision, scale)
        case "ARRAY":
            return ArrayType(_type(inner))
        case "MAP":
            return MapType(*map(_type, _parts(inner)))
        case "STRUCT":
            return ddl(inner)
    return PLAIN[text]


def _parts(text: str) -> list[str]:
    """What stands between commas that are in no brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


class Held:
    """A state variable of all keys; of a map the entries lie in the order of their bytes."""

    def __init__(self, spark: Spark) -> None:
        self._spark, self._of = spark, dict[Any, Any]()

    def get(self) -> Any:
        return self._of.get(self._spark.key)

    def update(self, value: Any) -> None:
        self._of[self._spark.key] = value

    def clear(self) -> None:
        self._of.pop(self._spark.key, None)


class HeldMap(Held):
    def _entries(self) -> dict[Any, Any]:
        entries: dict[Any, Any] = self._of.setdefault(self._spark.key, {})
        return entries

    def getValue(self, key: Any) -> Any:
        return self._entries().get(key)

    def updateValue(self, key: Any, value: Any) -> None:
        self._entries()[key] = value

    def removeKey(self, key: Any) -> None:
        self._entries().pop(key, None)

    def iterator(self) -> Iterator[Any]:
        def stored(pair: Any) -> bytes:
            key = pair[0]
            if all(isinstance(part, int) for part in key):
                return b"".join(struct.pack("<q", part) for part in key)
            return repr(key).encode()

        return iter(sorted(self._entries().items(), key=stored))


class HeldList(Held):
    def get(self) -> Any:
        return iter([*self._of.get(self._spark.key, [])])

    def put(self, values: Any) -> None:
        assert values
        self._of[self._spark.key] = [*values]

    def appendValue(self, value: Any) -> None:
        self._of.setdefault(self._spark.key, []).append(value)


class Spark:
    """Runs a class epoch by epoch, as Spark's `transformWithState` would."""

    def __init__(self, plan: OperatorPlan) -> None:
        self.key: Any = None
        self.timers = set[tuple[Any, int]]()
        self.variables = dict[str, Held]()
        self.turns = Turns(plan, self)

    def getValueState(self, name: str, schema: Any) -> Held:
        return self.variables.setdefault(name, Held(self))

    def getMapState(self, name: str, keys: Any, values: Any) -> Held:
        return self.variables.setdefault(name, HeldMap(self))

    def getListState(self, name: str, schema: Any) -> Held:
        return self.variables.setdefault(name, HeldList(self))

    def registerTimer(self, at: int) -> None:
        assert (self.key, at) not in self.timers
        self.timers.add((self.key, at))

    def deleteTimer(self, at: int) -> None:
        self.timers.discard((self.key, at))

    def epoch(self, rows: Iterable[tuple[str, Row]], watermark: int, now: int = 0) -> list[Row]:
        """What comes out of an epoch; rows by their keys, instants in milliseconds."""
        brought: dict[str, list[dict[str, Row]]] = {}
        for key, row in rows:
            brought.setdefault(key, []).append({"__row": row})
        found: list[Row] = []
        for key, own in brought.items():
            self.key = key
            found += self.turns.of((key,), own, now, watermark, None)
        passed = watermark or FIRST_MS  # zero stands for no watermark yet
        for key, at in sorted(one for one in self.timers if one[1] <= passed):
            self.key = key
            found += self.turns.of((key,), (), now, watermark, at)
            self.timers.discard((key, at))
        return found


def operator(
    handlers: type,
    *,
    columns: str,
    returns: str,
    values: Sequence[CellPlan] = (),
    entries: Sequence[CellPlan] = (),
    record: str = "",
    timers: Sequence[TimerPlan] = (),
    ordered: bool = True,
    event_time: int | None = None,
) -> OperatorPlan:
    """An operator of one input, whose rows have an event time before their columns."""
    beside = "armed BIGINT, number BIGINT, sweep BIGINT"
    return OperatorPlan(
        id="o",
        target="m:C",
        handlers=handlers,
        key_names=["k"],
        keys=ddl("k STRING"),
        row=ddl(f"event_time TIMESTAMP, {columns}"),
        inputs=[InputPlan("a", ddl(columns).names, 1)],
        timed=True,
        ordered=ordered,
        by_clock=False,
        record=ddl(f"{record}{beside}"),
        values=values,
        entries=entries,
        timers=timers,
        returns=ddl(returns),
        event_time=event_time,
        counts=None,  # type: ignore[arg-type]
    )


def at(millis: int) -> datetime:
    return moment_of(millis * 1000)
