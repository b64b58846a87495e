"""What aggregates return, and the cells of state they keep, by the types of their arguments.

The cells are Spark's own buffers, in Spark's order and by Spark's names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, log2
from typing import TypeAlias

from ...contracts.records import dataclass
from .types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DAY_TIME,
    DOUBLE,
    INTEGRALS,
    STRING,
    UNKNOWN,
    YEAR_MONTH,
    Array,
    Decimal,
    Field,
    IntervalType,
    Struct,
    Type,
    decimal,
)

Types: TypeAlias = Sequence[Type]
"""The types of an aggregate's arguments, without ``*``."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One buffer of an aggregate's state: Spark's name and type.

    ``scale`` is set where Spark keeps decimals as whole numbers: the number of digits after the
    implied decimal point.
    """

    buffer: str
    type: Type
    scale: int | None = None


Result: TypeAlias = Callable[[Types], Type]
Cells: TypeAlias = Callable[[Types], tuple[Cell, ...]]


# Results.


def always(type_: Type) -> Result:
    """Return the rule of a function whose result type does not depend on its arguments."""
    return lambda types: type_


def first(types: Types) -> Type:
    """Return the type of the first argument."""
    return types[0] if types else UNKNOWN


def array_of_first(types: Types) -> Type:
    """Return an array of the first argument's type."""
    return Array(first(types))


def sum_type(types: Types) -> Type:
    """Return the type of SUM: a decimal with ten more digits, or BIGINT, or DOUBLE."""
    match first(types):
        case Decimal(precision, scale):
            return decimal(precision + 10, scale)
        case IntervalType() as interval:
            return interval
        case type_ if type_ in INTEGRALS:
            return BIGINT
        case type_ if type_ == UNKNOWN:
            return UNKNOWN
    return DOUBLE


def avg_type(types: Types) -> Type:
    """Return the type of AVG."""
    match first(types):
        case Decimal(precision, scale):
            return decimal(precision + 4, scale + 4)
        case type_ if type_ == UNKNOWN:
            return UNKNOWN
    return middle_type(types)


def avg_of_second_type(types: Types) -> Type:
    """Return the type of REGR_AVGX, which averages its second argument."""
    return avg_type(types[1:])


def middle_type(types: Types) -> Type:
    """Return the type of an interpolated value: a DOUBLE, or an interval of all units."""
    value = first(types)
    if isinstance(value, IntervalType):
        return DAY_TIME if value.is_day_time else YEAR_MONTH
    return DOUBLE


def percentile_type(types: Types) -> Type:
    """Return the type of PERCENTILE: one value, or an array for an array of percentages."""
    return _for_each_percentage(types, middle_type(types))


def approx_percentile_type(types: Types) -> Type:
    """Return the type of APPROX_PERCENTILE: one of the values, or an array of some."""
    return _for_each_percentage(types, first(types))


def _for_each_percentage(types: Types, type_: Type) -> Type:
    return Array(type_) if len(types) > 1 and isinstance(types[1], Array) else type_


def histogram_type(types: Types) -> Type:
    """Return the bins of HISTOGRAM_NUMERIC."""
    return Array(Struct((Field("x", first(types)), Field("y", DOUBLE))))


def top_type(types: Types) -> Type:
    """Return the items of APPROX_TOP_K with their counts."""
    return Array(Struct((Field("item", first(types)), Field("count", BIGINT))))


def text_type(types: Types) -> Type:
    """Return the type of LISTAGG: a BINARY for BINARY values, a text for all others."""
    return BINARY if first(types) == BINARY else STRING


# Cells.

_SUMMED_AS_LONG = 8
"""Spark adds up decimals of at most this many digits as their unscaled BIGINT."""

_AVERAGED_AS_DOUBLE = 11
"""Spark averages decimals of at most this many digits as their unscaled value, in a DOUBLE."""

_HLL_FACTOR = 1.106
_REGISTERS_IN_A_LONG = 10


def sum_cells(types: Types) -> tuple[Cell, ...]:
    """Return the cells of SUM; for decimals one says whether anything was added."""
    value = first(types)
    if isinstance(value, Decimal) and value.precision <= _SUMMED_AS_LONG:
        return (Cell("sum", BIGINT, value.scale),)
    total = Cell("sum", sum_type(types))
    if isinstance(total.type, Decimal):
        return (total, Cell("isEmpty", BOOLEAN))
    return (total,)


def try_sum_cells(types: Types) -> tuple[Cell, ...]:
    """Return the cells of TRY_SUM, which distinguishes an overflow from nothing added."""
    total = Cell("sum", sum_type(types))
    return (total,) if total.type == DOUBLE else (total, Cell("isEmpty", BOOLEAN))


def avg_cells(types: Types) -> tuple[Cell, ...]:
    """Return the cells of AVG."""
    value, count = first(types), Cell("count", BIGINT)
    if not isinstance(value, Decimal):
        return (Cell("sum", avg_type(types)), count)
    if value.precision <= _AVERAGED_AS_DOUBLE:
        return (Cell("sum", DOUBLE, value.scale), count)
    return (Cell("sum", sum_type(types)), count)


def avg_of_second_cells(types: Types) -> tuple[Cell, ...]:
    """Return the cells of REGR_AVGX."""
    return avg_cells(types[1:])


def same(buffer: str) -> Cells:
    """Return the rule of a single cell of the argument's type."""
    return lambda types: (Cell(buffer, first(types)),)


def fixed(type_: Type, *buffers: str) -> Cells:
    """Return the rule of cells that are the same for all arguments."""
    cells = tuple(Cell(buffer, type_) for buffer in buffers)
    return lambda types: cells


def by_cells(types: Types) -> tuple[Cell, ...]:
    """Return the cells of MIN_BY and MAX_BY."""
    value, order = (*types, UNKNOWN, UNKNOWN)[:2]
    return (Cell("valueWithExtremumOrdering", value), Cell("extremumOrdering", order))


def first_cells(types: Types) -> tuple[Cell, ...]:
    """Return the cells of ANY_VALUE."""
    return (Cell("first", first(types)), Cell("valueSet", BOOLEAN))


def registers(error: float) -> Cells:
    """Return the rule of APPROX_COUNT_DISTINCT's cells: as many as its relative error needs."""
    precision = ceil(2 * log2(_HLL_FACTOR / error))
    count = 2**precision // _REGISTERS_IN_A_LONG + 1
    return fixed(BIGINT, *(f"MS[{i}]" for i in range(count)))


COUNT = fixed(BIGINT, "count")
BUFFER = fixed(BINARY, "buf")
"""The only cell of functions that keep a serialised object."""
