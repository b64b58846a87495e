"""Lines of the plan's layout beside Spark's own, and when the two say the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...contracts.json_records import Record
from ...contracts.plan import Column
from ...contracts.records import dataclass as record

NOTHING = "nothing"
_PART = "_extract_"
"""Spark's name of a field that it keeps in place of its struct."""
_WINDOW = ("window", "STRUCT<START TIMESTAMP, END TIMESTAMP>")

Pairs: TypeAlias = list[tuple[str, str]]
"""Columns by name, with the normal spelling of their types."""


@record(frozen=True, slots=True)
class SparkAggregate(Record):
    """An aggregate function as Spark plans it."""

    function: str
    sql: str
    distinct: bool
    filter: str | None
    buffers: tuple[Column, ...]


@record(frozen=True, slots=True)
class SparkSide(Record):
    """A side of a join as Spark plans it."""

    keys: tuple[Column, ...]
    columns: tuple[Column, ...]


@record(frozen=True, slots=True)
class SparkOperator(Record):
    """A stateful operator as Spark plans it: what its kind has, see `kernel/state/Layout.scala`."""

    kind: str
    keys: tuple[Column, ...] = ()
    session: str | None = None
    aggregates: tuple[SparkAggregate, ...] = ()
    join: str | None = None
    sides: tuple[SparkSide, ...] = ()
    cells: tuple[Column, ...] = ()
    timers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """What the plan says of a part, and what Spark does."""

    planned: str
    actual: str
    agrees: bool


def keys_line(planned: Sequence[Column], seen: Sequence[Column], *, exact: bool) -> Line:
    """Keys by their types.

    Unless the line is `exact`, Spark may lack some: those that turned out to be constant or double.
    """
    held = pairs(seen)
    expected = with_types(planned, held)
    types, rest = [t for _, t in held], iter([t for _, t in expected])
    agrees = len(types) == len(expected) or not exact
    # Each of Spark's keys is in the plan, in the plan's order.
    agrees = agrees and all(any(t == other for other in rest) for t in types)
    return Line(show("keys", expected), show("keys", held), agrees)


def without_window(keys: Sequence[Column]) -> list[Column]:
    """The keys but for a window: on which of them it is, the plan decides and Spark does not say.

    A join of windows is by them as by any other key.
    """
    return [key for key in keys if (key.name, _type(key)) != _WINDOW]


def side_line(planned: Sequence[Column], seen: Sequence[Column]) -> Line:
    """Columns of a side of a join, of which Spark may lack one that is only filtered by."""
    types = {c.name: c.type and normal_type(c.type) for c in planned}
    nested = any(t is None or "STRUCT" in t for t in types.values())
    held = pairs(seen)
    agrees = all(
        (name in types and types[name] in (None, type_)) or (nested and name.startswith(_PART))
        for name, type_ in held
    )
    expected = [(name, type_ or "?") for name, type_ in types.items()]
    left, right = (show("side", side, named=True) for side in (expected, held))
    return Line(left, right, agrees)


def with_types(planned: Sequence[Column], seen: Pairs) -> Pairs:
    """The plan's columns; a type unknown to it is Spark's at that position."""
    found = [type_ for _, type_ in seen]
    return [
        (column.name, _type(column) or (found[i] if i < len(found) else "?"))
        for i, column in enumerate(planned)
    ]


def pairs(columns: Sequence[Column]) -> Pairs:
    """Columns with the types that Spark gives them, which knows all of them."""
    return [(column.name, normal_type(str(column.type))) for column in columns]


def show(label: str, columns: Pairs, *, named: bool = False) -> str:
    """Columns in a line, by their types alone or by their names as well."""
    shown = (f"{name} {type_}" if named else type_ for name, type_ in columns)
    return f"{label} ({', '.join(shown)})"


def _type(column: Column) -> str | None:
    return None if column.type is None else normal_type(column.type)


def normal_type(text: str) -> str:
    """One spelling for a type, whether the plan or Spark wrote it.

    Spark's types come as text, in several dialects of its own, and only its JVM can parse all of
    them. Both sides are only compared and shown, so one spelling is enough.

    >>> normal_type("struct<a: int, b: decimal(12, 2)>") == normal_type("STRUCT<a INT,b DEC(12,2)>")
    True
    """
    text = re.sub(r"\s+", " ", text.upper().replace(" NOT NULL", ""))
    text = re.sub(r"\s*:\s*", " ", text)
    text = re.sub(r"\s*([<>()])\s*", r"\1", text)
    text = re.sub(r"\s*,\s*", ", ", text)
    text = re.sub(r"\((\d+), (\d+)\)", r"(\1,\2)", text)
    for long, short in _SYNONYMS:
        text = re.sub(rf"\b{long}\b", short, text)
    return text.strip()


_SYNONYMS = (
    ("INTEGER", "INT"),
    ("LONG", "BIGINT"),
    ("SHORT", "SMALLINT"),
    ("BYTE", "TINYINT"),
    ("REAL", "FLOAT"),
    ("DEC", "DECIMAL"),
    ("NUMERIC", "DECIMAL"),
    ("TIMESTAMP_LTZ", "TIMESTAMP"),
)
