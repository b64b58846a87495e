"""Conversion of values with structs: a field is identified by its name.

Spark's CAST matches by position: from `STRUCT<x, y>` to `STRUCT<y, x>` it would turn x into y.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl.format import identifier
from ....dsl.format.words import string
from ...model import types as t
from .conversions import cast, holds_all, type_holds_all, type_of


def converted(expression: str, old: str | None, new: str | None) -> str:
    """Return SQL that converts a value of one type to another; missing fields are NULL."""
    if old is None or new is None or goes_by_place(type_of(old), type_of(new)):
        return cast(expression, new)
    return cast(_by_name(expression, type_of(old), type_of(new), 1), new)


def holds_all_by_name(old: str | None, new: str | None) -> bool:
    """Whether each value of one type is a value of another, with fields of structs by name.

    That is not enough for values that Spark compares, which it does field by field.
    """
    if old is None or new is None:
        return holds_all(old, new)
    placed = _placed(type_of(old), type_of(new))
    return placed is not None and type_holds_all(placed, type_of(new))


def goes_by_place(old: t.Type, new: t.Type) -> bool:
    """Whether a CAST assigns each field the value of the same name."""
    match old, new:
        case t.Array(before), t.Array(after):
            return goes_by_place(before, after)
        case t.Map(key, value), t.Map(new_key, new_value):
            return goes_by_place(key, new_key) and goes_by_place(value, new_value)
        case t.Struct(before), t.Struct(after):
            return [f.name.lower() for f in before] == [f.name.lower() for f in after] and all(
                goes_by_place(a.type, b.type) for a, b in zip(before, after, strict=True)
            )
    return True


def _by_name(value: str, old: t.Type, new: t.Type, depth: int) -> str:
    if goes_by_place(old, new):
        return value
    one, key = f"one{depth}", f"key{depth}"
    match old, new:
        case t.Array(before), t.Array(after):
            return f"transform({value}, {one} -> {_by_name(one, before, after, depth + 1)})"
        case t.Map(old_key, before), t.Map(new_key, after):
            keyed = _by_name(key, old_key, new_key, depth + 1)
            if keyed != key:
                value = f"transform_keys({value}, ({key}, {one}) -> {keyed})"
            held = _by_name(one, before, after, depth + 1)
            if held == one:
                return value
            return f"transform_values({value}, ({key}, {one}) -> {held})"
        case t.Struct(), t.Struct():
            made = ", ".join(_fields(value, old, new, depth))
            return f"CASE WHEN {value} IS NULL THEN NULL ELSE named_struct({made}) END"
    return value


def _fields(value: str, old: t.Struct, new: t.Struct, depth: int) -> Iterator[str]:
    for field in new.fields:
        was = old.field(field.name)
        held = cast("NULL", str(field.type))
        if was is not None:
            held = _by_name(f"{value}.{identifier(was.name)}", was.type, field.type, depth + 1)
        yield f"{string(field.name)}, {held}"


def _placed(old: t.Type, new: t.Type) -> t.Type | None:
    """Return a type with its fields in the order of another one with as many."""
    match old, new:
        case t.Array(before), t.Array(after):
            element = _placed(before, after)
            return None if element is None else t.Array(element)
        case t.Map(key, value), t.Map(new_key, new_value):
            placed_key, placed = _placed(key, new_key), _placed(value, new_value)
            return None if placed_key is None or placed is None else t.Map(placed_key, placed)
        case t.Struct(before), t.Struct(after):
            if len(before) != len(after):
                return None
            fields = []
            for field in after:
                was = old.field(field.name)
                placed = None if was is None else _placed(was.type, field.type)
                if placed is None:
                    return None
                fields.append(t.Field(field.name, placed))
            return t.Struct(tuple(fields))
    return old
