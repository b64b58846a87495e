"""Values converted between Spark and a class, by type.

A class uses Python's own: `bool`, `int`, `float`, `Decimal`, `str`, `bytes`, `date`, a TIMESTAMP as
a `datetime` in UTC and a TIMESTAMP_NTZ as one without a time zone, `list`, `dict`, and a STRUCT as
a `Row`. Values from a class are checked, so that a mistake is reported where it is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
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
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    Row,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from .instants import in_utc

Convert = Callable[[Any], Any]

_BITS: dict[type[DataType], int] = {ByteType: 8, ShortType: 16, IntegerType: 32, LongType: 64}
_PLAIN = Context(prec=100)


class Unfit(TypeError):
    """A value of the wrong type."""

    def __init__(self, value: object, kind: DataType) -> None:
        super().__init__(f"{value!r} is not a valid {kind.simpleString().upper()}")


def fitted(convert: Convert, value: object, what: str) -> Any:
    """A value converted by `convert`; raises TypeError, which names the value of the wrong type."""
    try:
        return convert(value)
    except Unfit as error:
        raise TypeError(f"{what}: {error}") from None


def reader(kind: DataType) -> Convert:
    """From Spark's values in Python to those of a class; None stays None."""
    convert = _reader(kind)
    return lambda value: None if value is None else convert(value)


def _reader(kind: DataType) -> Convert:
    if isinstance(kind, StructType):
        return _row_reader(kind)
    if isinstance(kind, ArrayType):
        element = reader(kind.elementType)
        return lambda value: [element(one) for one in value]
    if isinstance(kind, MapType):
        key, held = reader(kind.keyType), reader(kind.valueType)
        # Arrow represents a map as pairs.
        return lambda value: {
            key(k): held(v) for k, v in (value.items() if isinstance(value, Mapping) else value)
        }
    if isinstance(kind, TimestampType):
        # PySpark returns an instant of state in the local time of the process.
        return lambda value: in_utc(value if value.tzinfo is not None else value.astimezone())
    if isinstance(kind, BinaryType):
        return bytes
    return lambda value: value


def _row_reader(kind: StructType) -> Convert:
    names = kind.names
    fields = [reader(field.dataType) for field in kind]
    make = Row(*names)

    def read(value: Any) -> Row:
        # Arrow represents a struct as a dict.
        held = [value[name] for name in names] if isinstance(value, dict) else value
        return make(*(field(one) for field, one in zip(fields, held, strict=True)))

    return read


def writer(kind: DataType, *, arrow: bool = False) -> Convert:
    """From a class's values to those PySpark keeps in state, or puts into `arrow`.

    The result raises Unfit for a value of the wrong type. None stays None.
    """
    convert = _writer(kind, arrow)
    return lambda value: None if value is None else convert(value)


def _writer(kind: DataType, arrow: bool) -> Convert:
    if isinstance(kind, StructType):
        return _row_writer(kind, arrow)
    if isinstance(kind, ArrayType):
        return _array_writer(kind, arrow)
    if isinstance(kind, MapType):
        return _map_writer(kind, arrow)
    if isinstance(kind, DecimalType):
        return _decimal_writer(kind)
    scalar = _SCALARS.get(type(kind))
    if scalar is None:
        raise NotImplementedError(f"{kind.simpleString()} in Python")

    def write(value: Any) -> Any:
        # From numpy, and from pandas.
        value = value.item() if type(value).__module__ == "numpy" else value
        found = scalar(value, kind)
        if found is None:
            raise Unfit(value, kind)
        return found

    return write


def _row_writer(kind: StructType, arrow: bool) -> Convert:
    names = kind.names
    known = set(names)
    fields = [writer(field.dataType, arrow=arrow) for field in kind]

    def write(value: Any) -> Any:
        named = getattr(value, "__fields__", None)
        if isinstance(value, Mapping) or named is not None:
            given = value if named is None else dict(zip(named, value, strict=True))
            if not known.issuperset(given):
                raise Unfit(value, kind)
            held = [given.get(name) for name in names]
        elif isinstance(value, tuple | list) and len(value) == len(names):
            held = [*value]
        else:
            raise Unfit(value, kind)
        made = [field(one) for field, one in zip(fields, held, strict=True)]
        return dict(zip(names, made, strict=True)) if arrow else tuple(made)

    return write


def _array_writer(kind: ArrayType, arrow: bool) -> Convert:
    element = writer(kind.elementType, arrow=arrow)

    def write(value: Any) -> Any:
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
            raise Unfit(value, kind)
        return [element(one) for one in value]

    return write


def _map_writer(kind: MapType, arrow: bool) -> Convert:
    key, held = writer(kind.keyType, arrow=arrow), writer(kind.valueType, arrow=arrow)

    def write(value: Any) -> Any:
        if not isinstance(value, Mapping) or None in value:
            raise Unfit(value, kind)
        pairs = [(key(k), held(v)) for k, v in value.items()]
        return pairs if arrow else dict(pairs)

    return write


def _decimal_writer(kind: DecimalType) -> Convert:
    """Rounds to the scale, half up, as CAST does; a value with too many digits does not fit."""
    unit, limit = Decimal(1).scaleb(-kind.scale), Decimal(10) ** (kind.precision - kind.scale)

    def write(value: Any) -> Any:
        if not isinstance(value, Decimal | int) or isinstance(value, bool):
            raise Unfit(value, kind)
        try:
            found = Decimal(value).quantize(unit, ROUND_HALF_UP, _PLAIN)
        except InvalidOperation:
            raise Unfit(value, kind) from None
        if not found.is_finite() or abs(found) >= limit:
            raise Unfit(value, kind)
        return found

    return write


def _whole(value: Any, kind: DataType) -> int | None:
    bits = _BITS[type(kind)]
    fits = isinstance(value, int) and -(1 << (bits - 1)) <= value < 1 << (bits - 1)
    return value if fits and not isinstance(value, bool) else None


def _float(value: Any, kind: DataType) -> float | None:
    fits = isinstance(value, float | int) and not isinstance(value, bool)
    return float(value) if fits else None


def _of(*types: type) -> Callable[[Any, DataType], Any]:
    return lambda value, _: value if isinstance(value, types) else None


def _bytes(value: Any, kind: DataType) -> bytes | None:
    return bytes(value) if isinstance(value, bytes | bytearray) else None


def _day(value: Any, kind: DataType) -> date | None:
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def _instant(value: Any, kind: DataType) -> datetime | None:
    return in_utc(value) if isinstance(value, datetime) else None


def _local(value: Any, kind: DataType) -> datetime | None:
    return value if isinstance(value, datetime) and value.tzinfo is None else None


_SCALARS: dict[type[DataType], Callable[[Any, DataType], Any]] = {
    BooleanType: _of(bool),
    ByteType: _whole,
    ShortType: _whole,
    IntegerType: _whole,
    LongType: _whole,
    FloatType: _float,
    DoubleType: _float,
    StringType: _of(str),
    BinaryType: _bytes,
    DateType: _day,
    TimestampType: _instant,
    TimestampNTZType: _local,
    NullType: lambda value, kind: None,
}


def rank(value: Any) -> Any:
    """A sort key for a class's values of one type, in Spark's order.

    NULL comes first, NaN last; maps are compared by their sorted entries.
    """
    if value is None:
        return (0,)
    if isinstance(value, float):
        return (1, math.isnan(value), 0.0 if math.isnan(value) else value)
    if isinstance(value, tuple | list):
        return (1, [rank(one) for one in value])
    if isinstance(value, dict):
        return (1, sorted([rank(k), rank(v)] for k, v in value.items()))
    return (1, value)
