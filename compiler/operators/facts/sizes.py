"""How many bytes rows take in a state store: a fixed number, and the values of variable length.

A row of Spark's has a bit for each column, rounded up to eight bytes, eight bytes per column, and
after them what does not fit there. The store and its files add to that; the numbers are for
comparison, not for capacity planning.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....contracts.records import dataclass
from ...model import types

_WORD = 8
_LONG_DECIMAL = 18


@dataclass(frozen=True, slots=True)
class Size:
    """A known number of bytes, and the names of values of variable length."""

    fixed: int = 0
    open: tuple[str, ...] = ()

    def __add__(self, other: Size) -> Size:
        return Size(self.fixed + other.fixed, tuple(dict.fromkeys((*self.open, *other.open))))

    def __str__(self) -> str:
        return " + ".join([f"{self.fixed} bytes", *self.open])


def row_size(columns: Iterable[tuple[str, types.Type]]) -> Size:
    """Return the size of a row of some columns."""
    found = list(columns)
    size = Size(_WORD * -(-len(found) // 64) + _WORD * len(found))
    for name, type_ in found:
        size += _behind(name, type_)
    return size


def _behind(name: str, type_: types.Type) -> Size:
    """Return what a value takes after the eight bytes of its column."""
    match type_:
        case types.Decimal(precision=precision):
            return Size(2 * _WORD if precision > _LONG_DECIMAL else 0)
        case types.Struct(fields=fields):
            inner = row_size((field.name, field.type) for field in fields)
            return Size(inner.fixed, (name,) if inner.open else ())
        case types.IntervalType():
            return Size()
        case types.Scalar() if type_ not in (types.STRING, types.BINARY, types.VARIANT):
            return Size() if types.is_known(type_) else Size(0, (name,))
    return Size(0, (name,))


def number_size(count: int) -> Size:
    """Return the size of a row of whole numbers."""
    return Size(_WORD + _WORD * count)
