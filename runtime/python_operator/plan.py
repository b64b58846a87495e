"""What the workers need to know about an operator: plain values, and the class itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.accumulators import Accumulator
from pyspark.sql.types import StructType


@dataclass(frozen=True)
class CellPlan:
    """A cell; `ttl` in microseconds, `schema` that of an entry in the state."""

    name: str
    kind: str
    default: Any
    ttl: int
    variable: str
    schema: StructType


@dataclass(frozen=True)
class TimerPlan:
    """A timer."""

    name: str
    processing: bool


@dataclass(frozen=True)
class InputPlan:
    """An input: its columns, and where the first of them is in the row of all inputs."""

    alias: str
    columns: Sequence[str]
    first: int


@dataclass(frozen=True)
class OperatorPlan:
    """An operator.

    `row` is the row of all inputs, whose first column is the event time if `timed`; `record` is a
    key's row of state. `event_time` is the position of the column of `returns` that is one.
    """

    id: str
    target: str
    handlers: type
    key_names: Sequence[str]
    keys: StructType
    row: StructType
    inputs: Sequence[InputPlan]
    timed: bool
    ordered: bool
    by_clock: bool
    record: StructType
    values: Sequence[CellPlan]
    entries: Sequence[CellPlan]
    timers: Sequence[TimerPlan]
    returns: StructType
    event_time: int | None
    counts: Accumulator[Any]
