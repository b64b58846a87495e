"""A script's keyed program: its inputs, its state, and a step for each statement.

Expressions are Spark SQL. Their names are columns of the current row, keys, cells, locals, and in
the handler of a timer its own name, which is the instant that it was set for. `m[k]`, `contains(m,
k)` and `size(m)` read an entry of a cell or count them; a cell's bare name reads all of it.
`rolling(rows, sum(x))` is an aggregate over the rows of a frame.
`watermark()` and `now()` are instants of the epoch; `watermark_before()` is the watermark of the
previous epoch, which decides which rows of this one are late.

The program runs in the kernel (`kernel/keyed/Keyed.scala`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..kernel.load import java_list
from ..plan.settings import seconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Document = dict[str, Any]

EVENT = "event"
TIMER = "timer"


@dataclass(frozen=True, slots=True)
class Rows:
    """An input: its frame, expressions for the keys, its event time, the columns used.

    `until` is an expression for the instant from which on a row is late.
    """

    alias: str
    frame: DataFrame
    keys: Sequence[str]
    event_time: str | None
    columns: Sequence[str]
    until: str | None = None

    def document(self) -> Document:
        return {
            "alias": self.alias,
            "keys": [*self.keys],
            "event_time": self.event_time,
            "until": self.until,
            "columns": [*self.columns],
        }


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of state; `key` is None for a value and a frame, `value` for a set and a list."""

    name: str
    kind: str
    key: str | None
    value: str | None
    default: str | None = None
    ttl: str | None = None

    def document(self) -> Document:
        return {
            "name": self.name,
            "kind": self.kind,
            "key": self.key,
            "value": self.value,
            "default": self.default,
            "ttl_micros": None if self.ttl is None else round(seconds(self.ttl) * 1_000_000),
        }


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer of event time or of processing time."""

    name: str
    processing: bool

    def document(self) -> Document:
        return {"name": self.name, "processing": self.processing}


@dataclass(frozen=True, slots=True)
class Step:
    """A statement of a handler, and those nested in it."""

    does: str
    says: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    steps: Sequence[Step] = ()

    def document(self) -> Document:
        inner = {"steps": [step.document() for step in self.steps]} if self.steps else {}
        return {"step": self.does, **self.says, **inner}


@dataclass(frozen=True, slots=True)
class When(Step):
    """The steps of the first true condition; `or_when` and `otherwise` add more."""

    branches: Sequence[tuple[str, Sequence[Step]]] = ()
    rest: Sequence[Step] = ()

    def or_when(self, condition: str, *steps: Step) -> When:
        """Executed if this is the first true condition."""
        return When("when", branches=(*self.branches, (condition, steps)))

    def otherwise(self, *steps: Step) -> When:
        """Executed if no condition is true."""
        return When("when", branches=self.branches, rest=steps)

    def document(self) -> Document:
        return {
            "step": "when",
            "branches": [
                {"if": condition, "steps": [step.document() for step in steps]}
                for condition, steps in self.branches
            ],
            "otherwise": [step.document() for step in self.rest],
        }


@dataclass(frozen=True, slots=True)
class Handler:
    """Executed for a row of an input, or when a timer fires."""

    on: str
    name: str
    steps: Sequence[Step]

    def document(self) -> Document:
        return {
            "on": self.on,
            "name": self.name,
            "steps": [step.document() for step in self.steps],
        }


def rows(
    alias: str,
    frame: DataFrame,
    *,
    keys: Sequence[str] = (),
    event_time: str | None = None,
    until: str | None = None,
    columns: Sequence[str],
) -> Rows:
    """An input, under the qualifier of its columns.

    A row is dropped when the watermark of the previous epoch has reached `until`.
    """
    return Rows(alias, frame, keys, event_time, columns, until)


def value(name: str, type: str, *, default: str | None = None, ttl: str | None = None) -> Cell:
    """A cell with one value, NULL before it is set if it has no default."""
    return Cell(name, "value", None, type, default, ttl)


def map(name: str, key: str, value: str, *, ttl: str | None = None) -> Cell:
    """A cell with a value for each key."""
    return Cell(name, "map", key, value, None, ttl)


def set(name: str, element: str, *, ttl: str | None = None) -> Cell:
    """A cell with elements, each once."""
    return Cell(name, "set", element, None, None, ttl)


def list(name: str, element: str, *, ttl: str | None = None) -> Cell:
    """A cell with elements in their order."""
    return Cell(name, "list", element, None, None, ttl)


def frame(name: str, row: str) -> Cell:
    """A cell with the rows of a frame in their order; the first field of each is its instant.

    `rolling(name, sum(amount))` is an aggregate over all of them, one of Spark's over the fields
    of a row, at a cost that does not depend on how many they are.
    """
    return Cell(name, "frame", None, f"ARRAY<{row}>")


def event_timer(name: str) -> Timer:
    """A timer that fires when the watermark has passed its instant."""
    return Timer(name, processing=False)


def processing_timer(name: str) -> Timer:
    """A timer that fires when the clock has passed its instant."""
    return Timer(name, processing=True)


def on_event(input: str, *steps: Step) -> Handler:
    """Executed for each row of an input."""
    return Handler(EVENT, input, steps)


def on_timer(timer: str, *steps: Step) -> Handler:
    """Executed when a timer fires."""
    return Handler(TIMER, timer, steps)


def when(condition: str, *steps: Step) -> When:
    """Executed if a condition is true."""
    return When("when", branches=((condition, steps),))


def loop(condition: str, *steps: Step) -> Step:
    """Executed while a condition is true, at most 10,000 times."""
    return Step("loop", {"if": condition}, steps)


def each(variable: str, type: str, values: str, *steps: Step) -> Step:
    """Executed for each element of an array, as it is before the first."""
    return Step("each", {"name": variable, "type": type, "values": values}, steps)


def declare(name: str, type: str, value: str) -> Step:
    """A local, to the end of the surrounding steps."""
    return Step("declare", {"name": name, "type": type, "value": value})


def assign(name: str, value: str) -> Step:
    """Assigns a local or a cell; replaces all entries of a map, set or list."""
    return Step("assign", {"name": name, "value": value})


def put(cell: str, key: str, value: str) -> Step:
    """Writes an entry of a map."""
    return Step("put", {"cell": cell, "key": key, "value": value})


def remove(cell: str, key: str) -> Step:
    """Removes an entry of a map by its key, or an element of a set."""
    return Step("remove", {"cell": cell, "key": key})


def add(cell: str, value: str) -> Step:
    """Adds an element to a set."""
    return Step("add", {"cell": cell, "value": value})


def append(cell: str, value: str) -> Step:
    """Appends an element to a list."""
    return Step("append", {"cell": cell, "value": value})


def keep(cell: str, rows: str, *, since: str | None = None, last: int = 0) -> Step:
    """Adds an array of rows to a frame, then drops those before `since`, or all but the `last`."""
    left = {"last": str(last)} if since is None else {"since": since}
    return Step("keep", {"cell": cell, "rows": rows, **left})


def clear(cell: str) -> Step:
    """Resets a cell to its initial content."""
    return Step("clear", {"cell": cell})


def clear_state() -> Step:
    """Clears all cells of the key; timers stay as they are."""
    return Step("clear state")


def start_timer(timer: str, at: str) -> Step:
    """Sets a timer, or moves it."""
    return Step("start timer", {"timer": timer, "at": at})


def stop_timer(timer: str) -> Step:
    """Unsets a timer, if it is set."""
    return Step("stop timer", {"timer": timer})


def emit(*values: str) -> Step:
    """Emits a row: a value for each returned column."""
    return Step("emit", {"values": values})


def document(
    name: str,
    keys: Mapping[str, str],
    inputs: Sequence[Rows],
    state: Sequence[Cell],
    timers: Sequence[Timer],
    handlers: Sequence[Handler],
    returns: Mapping[str, str],
    *,
    ordered: bool,
    event_time: str | None,
    wakes: bool,
) -> Document:
    """The whole program in the kernel's form.

    With `wakes`, keys with an expired time are woken without a watermark, and the query never
    becomes idle.
    """
    return {
        "id": name,
        "keys": [{"name": key, "type": type} for key, type in keys.items()],
        "inputs": [one.document() for one in inputs],
        "ordered": ordered,
        "state": [cell.document() for cell in state],
        "timers": [timer.document() for timer in timers],
        "handlers": [handler.document() for handler in handlers],
        "returns": [{"name": column, "type": type} for column, type in returns.items()],
        "event_time": event_time,
        "wakes": wakes,
    }


def frame_of(kernel: Any, whole: Document, inputs: Sequence[Rows]) -> DataFrame:
    """The rows that a program emits."""
    from pyspark.sql import DataFrame

    spark = inputs[0].frame.sparkSession
    frames = java_list(spark._jvm, [one.frame._jdf for one in inputs])
    return DataFrame(kernel.Keyed.frame(json.dumps(whole), frames), spark)
