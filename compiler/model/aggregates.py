"""Aggregate functions: what they take, what they return, and the cells of state they keep.

The cells are Spark's own buffers, in Spark's order and by Spark's names; the runtime compares them
with the physical plan. Aliases are one function (MEAN is AVG), so that state is known by what it
holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ...dsl.records import dataclass
from .types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DAY_TIME,
    DOUBLE,
    INTEGRALS,
    UNKNOWN,
    YEAR_MONTH,
    Array,
    Decimal,
    IntervalType,
    Type,
    decimal,
)

Types: TypeAlias = Sequence[Type]


@dataclass(frozen=True, slots=True)
class Cell:
    """One buffer of an aggregate's state: Spark's name and type."""

    buffer: str
    type: Type


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate function.

    ``name`` is the name it goes by whatever alias was written. ``spark_function`` is what Spark's
    physical plan calls it, ``pyspark_name`` the attribute of ``pyspark.sql.functions`` (None: by
    ``F.expr``). ``takes`` says what each argument must be: ``any``, ``numeric`` (numbers and
    intervals), ``number``, ``integral``, ``boolean`` or ``orderable``; the last goes on for a
    function of any number of arguments (``many``). ``built`` says whether this version runs it.
    """

    name: str
    spark_function: str
    pyspark_name: str | None
    takes: tuple[str, ...]
    result: Callable[[Types], Type]
    buffers: Callable[[Types], tuple[Cell, ...]]
    nullable: bool = True
    many: bool = False
    optional: int = 0
    built: bool = True

    @property
    def least(self) -> int:
        """The fewest arguments it takes."""
        return len(self.takes) - self.optional

    @property
    def most(self) -> int | None:
        """The most arguments it takes, None for any number."""
        return None if self.many else len(self.takes)

    def cells(self, argument_types: Types) -> tuple[Cell, ...]:
        """Return the cells of its state for arguments of these types (none for ``COUNT(*)``)."""
        return self.buffers(argument_types)


def aggregate(name: str, *, distinct: bool = False) -> AggregateFunction | None:
    """Return the aggregate function of a name in any case, or None.

    With ``distinct`` the function that is meant by ``name(DISTINCT …)``; only COUNT has one.
    """
    folded = name.lower()
    found = _TABLE.get(_ALIASES.get(folded, folded))
    if distinct and found is not None:
        return _COUNT_DISTINCT if found.name == "count" else None
    return found


def aggregate_names() -> tuple[str, ...]:
    """Return every name by which an aggregate function may be called, aliases included."""
    return (*_TABLE, *_ALIASES)


_ALIASES = {
    "any": "bool_or",
    "any_value": "first",
    "array_agg": "collect_list",
    "every": "bool_and",
    "first_value": "first",
    "last_value": "last",
    "mean": "avg",
    "percentile_approx": "approx_percentile",
    "some": "bool_or",
    "std": "stddev_samp",
    "stddev": "stddev_samp",
    "string_agg": "listagg",
    "variance": "var_samp",
}


def _always(type_: Type) -> Callable[[Types], Type]:
    return lambda types: type_


def _first(types: Types) -> Type:
    return types[0] if types else UNKNOWN


def _array_of_first(types: Types) -> Type:
    return Array(_first(types))


def _sum(types: Types) -> Type:
    match _first(types):
        case Decimal(precision, scale):
            return decimal(precision + 10, scale)
        case IntervalType() as interval:
            return interval
        case type_ if type_ in INTEGRALS:
            return BIGINT
        case type_ if type_ == UNKNOWN:
            return UNKNOWN
    return DOUBLE


def _avg(types: Types) -> Type:
    match _first(types):
        case Decimal(precision, scale):
            return decimal(precision + 4, scale + 4)
        case IntervalType() as interval:
            return DAY_TIME if interval.is_day_time else YEAR_MONTH
        case type_ if type_ == UNKNOWN:
            return UNKNOWN
    return DOUBLE


def _median(types: Types) -> Type:
    return _sum(types) if isinstance(_first(types), IntervalType) else DOUBLE


def _percentile(types: Types) -> Type:
    value = _first(types)
    return Array(value) if len(types) > 1 and isinstance(types[1], Array) else value


_SUMMED_AS_LONG = 8
"""Spark adds up decimals of at most this many digits as their unscaled BIGINT."""

_AVERAGED_AS_DOUBLE = 11
"""Spark averages decimals of at most this many digits as their unscaled value, in a DOUBLE."""


def _digits(types: Types) -> int | None:
    first = _first(types)
    return first.precision if isinstance(first, Decimal) else None


def _sum_cells(types: Types) -> tuple[Cell, ...]:
    digits = _digits(types)
    if digits is not None and digits <= _SUMMED_AS_LONG:
        return (Cell("sum", BIGINT),)
    total = Cell("sum", _sum(types))
    if isinstance(total.type, Decimal):
        return (total, Cell("isEmpty", BOOLEAN))
    return (total,)


def _try_sum_cells(types: Types) -> tuple[Cell, ...]:
    total = Cell("sum", _sum(types))
    return (total,) if total.type == DOUBLE else (total, Cell("isEmpty", BOOLEAN))


def _avg_cells(types: Types) -> tuple[Cell, ...]:
    digits = _digits(types)
    in_double = digits is not None and digits <= _AVERAGED_AS_DOUBLE
    total = DOUBLE if in_double or _first(types) in INTEGRALS else _sum(types)
    return (Cell("sum", total), Cell("count", BIGINT))


def _same(buffer: str) -> Callable[[Types], tuple[Cell, ...]]:
    """One cell of the argument's type."""
    return lambda types: (Cell(buffer, _first(types)),)


def _fixed(type_: Type, *buffers: str) -> Callable[[Types], tuple[Cell, ...]]:
    cells = tuple(Cell(buffer, type_) for buffer in buffers)
    return lambda types: cells


def _by_cells(types: Types) -> tuple[Cell, ...]:
    value, order = (*types, UNKNOWN, UNKNOWN)[:2]
    return (Cell("valueWithExtremumOrdering", value), Cell("extremumOrdering", order))


def _first_cells(buffer: str) -> Callable[[Types], tuple[Cell, ...]]:
    return lambda types: (Cell(buffer, _first(types)), Cell("valueSet", BOOLEAN))


def _plain(
    name: str,
    takes: str,
    result: Callable[[Types], Type],
    buffers: Callable[[Types], tuple[Cell, ...]],
) -> AggregateFunction:
    """Return a function that Spark and PySpark call by its own name."""
    return AggregateFunction(name, name, name, tuple(takes.split()), result, buffers)


def _moments(name: str, takes: str, *buffers: str) -> AggregateFunction:
    return _plain(name, takes, _always(DOUBLE), _fixed(DOUBLE, *buffers))


def _not_built(
    name: str,
    takes: str,
    result: Callable[[Types], Type],
    buffers: Callable[[Types], tuple[Cell, ...]] | None = None,
    *,
    nullable: bool = True,
    optional: int = 0,
) -> AggregateFunction:
    return AggregateFunction(
        *(name, name, name, tuple(takes.split()), result, buffers or _fixed(BINARY, "buf")),
        nullable=nullable,
        optional=optional,
        built=False,
    )


_COUNT_CELLS = _fixed(BIGINT, "count")
_VARIANCE = ("n", "avg", "m2")
_COVARIANCE = ("n", "xAvg", "yAvg", "ck")

_COUNT_DISTINCT = AggregateFunction(
    "count_distinct",
    "collect_set",
    None,
    ("orderable",),
    _always(BIGINT),
    _fixed(BINARY, "buf"),
    nullable=False,
)
"""COUNT(DISTINCT x), which is emitted as ``size(collect_set(x))``: Spark refuses it in a stream."""

_FUNCTIONS = (
    AggregateFunction(
        *("count", "count", "count", ("any",), _always(BIGINT), _COUNT_CELLS),
        nullable=False,
        many=True,
    ),
    AggregateFunction(
        *("count_if", "count", "count_if", ("boolean",), _always(BIGINT), _COUNT_CELLS),
        nullable=False,
    ),
    _plain("sum", "numeric", _sum, _sum_cells),
    _plain("avg", "numeric", _avg, _avg_cells),
    _plain("min", "orderable", _first, _same("min")),
    _plain("max", "orderable", _first, _same("max")),
    AggregateFunction(
        "bool_and", "min", "bool_and", ("boolean",), _always(BOOLEAN), _fixed(BOOLEAN, "min")
    ),
    AggregateFunction(
        "bool_or", "max", "bool_or", ("boolean",), _always(BOOLEAN), _fixed(BOOLEAN, "max")
    ),
    _plain("min_by", "any orderable", _first, _by_cells),
    _plain("max_by", "any orderable", _first, _by_cells),
    _plain("bit_and", "integral", _first, _same("bit_and")),
    _plain("bit_or", "integral", _first, _same("bit_or")),
    _plain("bit_xor", "integral", _first, _same("bit_xor")),
    _moments("stddev_samp", "number", *_VARIANCE),
    _moments("stddev_pop", "number", *_VARIANCE),
    _moments("var_samp", "number", *_VARIANCE),
    _moments("var_pop", "number", *_VARIANCE),
    _moments("skewness", "number", *_VARIANCE, "m3"),
    _moments("kurtosis", "number", *_VARIANCE, "m3", "m4"),
    _moments("covar_samp", "number number", *_COVARIANCE),
    _moments("covar_pop", "number number", *_COVARIANCE),
    _moments("corr", "number number", *_COVARIANCE, "xMk", "yMk"),
    # Spark lets these share the state of SUM and AVG for some decimals and not for others.
    _not_built("try_sum", "numeric", _sum, _try_sum_cells),
    _not_built("try_avg", "numeric", _avg, _avg_cells),
    _not_built("first", "any boolean", _first, _first_cells("first"), optional=1),
    _not_built("last", "any boolean", _first, _first_cells("last"), optional=1),
    _not_built("collect_list", "any", _array_of_first, nullable=False),
    _not_built("collect_set", "orderable", _array_of_first, nullable=False),
    _not_built(
        "approx_count_distinct", "orderable number", _always(BIGINT), optional=1, nullable=False
    ),
    _not_built("approx_percentile", "numeric any number", _percentile, optional=1),
    _not_built("median", "numeric", _median),
)
_TABLE = {function.name: function for function in _FUNCTIONS}
