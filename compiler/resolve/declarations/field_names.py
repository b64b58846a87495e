"""Names of columns and fields that a format of files, or a table of a database, does not take."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import types
from ...model.schema import Field

_LONGEST = 63
"""Bytes of a name in PostgreSQL, which cuts what is longer: two columns could become one."""

_OF_POSTGRES = frozenset("tableoid xmin cmin xmax cmax ctid".split())
"""Columns that every table has already."""


def refused_names(form: str | None, columns: tuple[Field, ...]) -> Iterator[tuple[str, str]]:
    """Yield each name that a format (or `postgres`) does not take, and why."""
    why = {"avro": _not_of_avro, "orc": _not_of_orc, "postgres": _not_of_postgres}.get(form or "")
    if why is None:
        return
    for column in columns:
        names = [column.name]
        if form != "postgres":
            names += _fields(column.type)
        for name in names:
            if (reason := why(name)) is not None:
                yield name, reason


def _fields(type_: types.Type) -> Iterator[str]:
    match type_:
        case types.Array(element):
            yield from _fields(element)
        case types.Map(key, value):
            yield from _fields(key)
            yield from _fields(value)
        case types.Struct(fields):
            for field in fields:
                yield field.name
                yield from _fields(field.type)


def _not_of_avro(name: str) -> str | None:
    letters = name.replace("_", "a")
    if letters.isalnum() and not letters[0].isdigit():
        return None
    return "names in avro are letters, digits and `_`"


def _not_of_orc(name: str) -> str | None:
    return "names in orc have no backticks" if "`" in name else None


def _not_of_postgres(name: str) -> str | None:
    if name in _OF_POSTGRES:
        return "every table of PostgreSQL has a column of its own that is called so"
    size = len(name.encode("utf-8"))
    if size <= _LONGEST:
        return None
    return f"it has {size} bytes, and PostgreSQL cuts names to {_LONGEST}"
