"""Aggregate functions: their arguments, their results, and the cells of state they keep.

The runtime compares the cells with the physical plan. Aliases are one function (MEAN is AVG), so
that state is identified by what it holds.
"""

from __future__ import annotations

from ...contracts.records import dataclass
from . import aggregate_cells as cells
from .aggregate_cells import Cell, Cells, Result, Types, always, fixed, same
from .types import BIGINT, BINARY, BOOLEAN, DOUBLE

__all__ = ["CONSTANTS", "AggregateFunction", "Cell", "aggregate", "aggregate_names"]

CONSTANTS = frozenset("accuracy bins error flag percentage separator share size".split())
"""The words of ``takes`` for arguments that must be constants."""


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate function.

    ``name`` is its canonical name, whatever alias was written. ``spark_function`` is its name in
    Spark's physical plan, ``pyspark_name`` the attribute of ``pyspark.sql.functions`` (None: by
    ``F.expr``). ``takes`` says what each argument must be, a kind of value or one of ``CONSTANTS``;
    the last repeats for a function of any number of arguments (``many``), and the last ``optional``
    ones may be left out. ``clauses`` are those of ``ORDER BY``, ``NULLS`` and ``DISTINCT`` that a
    call may have.
    """

    name: str
    spark_function: str
    pyspark_name: str | None
    takes: tuple[str, ...]
    result: Result
    buffers: Cells
    nullable: bool = True
    many: bool = False
    optional: int = 0
    clauses: frozenset[str] = frozenset()

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

    With ``distinct``, return the function meant by ``name(DISTINCT …)`` where that is another one.
    """
    folded = name.lower()
    found = _TABLE.get(_ALIASES.get(folded, folded))
    return _COUNT_DISTINCT if distinct and found is not None and found.name == "count" else found


def aggregate_names() -> tuple[str, ...]:
    """Return every name of an aggregate function, including aliases."""
    return (*_TABLE, *_ALIASES)


_ALIASES = {
    "any": "bool_or",
    "every": "bool_and",
    "first": "first_value",
    "last": "last_value",
    "mean": "avg",
    "percentile_approx": "approx_percentile",
    "some": "bool_or",
    "std": "stddev_samp",
    "stddev": "stddev_samp",
    "string_agg": "listagg",
    "variance": "var_samp",
}


def _plain(
    name: str,
    takes: str,
    result: Result,
    buffers: Cells = cells.BUFFER,
    *,
    called: str | None = None,
    by_expr: bool = False,
    nullable: bool = True,
    optional: int = 0,
    clauses: str = "",
) -> AggregateFunction:
    """Return a function with the same name in PySpark, and in Spark unless ``called`` otherwise."""
    return AggregateFunction(
        *(name, called or name, None if by_expr else name, tuple(takes.split()), result, buffers),
        nullable=nullable,
        optional=optional,
        clauses=frozenset(clauses.split()),
    )


def _moments(name: str, takes: str, *buffers: str, called: str | None = None) -> AggregateFunction:
    return _plain(name, takes, always(DOUBLE), fixed(DOUBLE, *buffers), called=called)


def _sketch(name: str, takes: str, *, optional: int = 0) -> AggregateFunction:
    """Return a function whose result is a sketch, for Spark's functions that read it."""
    by_expr = name in ("count_min_sketch",)
    return _plain(name, takes, always(BINARY), nullable=False, optional=optional, by_expr=by_expr)


def _bitmap(name: str, takes: str) -> AggregateFunction:
    return _plain(name, takes, always(BINARY), fixed(BINARY, "bitmap"), nullable=False)


_VARIANCE = ("n", "avg", "m2")
_COVARIANCE = ("n", "xAvg", "yAvg", "ck")
_LINE = (*_COVARIANCE, *_VARIANCE)

_COUNT_DISTINCT = AggregateFunction(
    *("count_distinct", "collect_set", None, ("orderable",), always(BIGINT), cells.BUFFER),
    nullable=False,
    many=True,
    clauses=frozenset({"DISTINCT"}),
)
"""COUNT(DISTINCT x), which is emitted as ``size(collect_set(x))``: Spark refuses it in a stream."""

_COUNTS = (
    AggregateFunction(
        *("count", "count", "count", ("any",), always(BIGINT), cells.COUNT),
        nullable=False,
        many=True,
    ),
    _plain("count_if", "boolean", always(BIGINT), cells.COUNT, called="count", nullable=False),
    _plain(
        *("approx_count_distinct", "any error", always(BIGINT), cells.registers(0.05)),
        nullable=False,
        optional=1,
    ),
)
_SUMS = (
    _plain("sum", "numeric", cells.sum_type, cells.sum_cells),
    _plain("avg", "numeric", cells.avg_type, cells.avg_cells),
    _plain("try_sum", "inexact", cells.sum_type, cells.try_sum_cells),
    _plain("try_avg", "inexact", cells.avg_type, cells.avg_cells),
)
_CHOICES = (
    _plain("min", "orderable", cells.first, same("min"), clauses="DISTINCT"),
    _plain("max", "orderable", cells.first, same("max"), clauses="DISTINCT"),
    _plain(
        *("bool_and", "boolean", always(BOOLEAN), fixed(BOOLEAN, "min")),
        called="min",
        clauses="DISTINCT",
    ),
    _plain(
        *("bool_or", "boolean", always(BOOLEAN), fixed(BOOLEAN, "max")),
        called="max",
        clauses="DISTINCT",
    ),
    _plain("min_by", "any orderable", cells.first, cells.by_cells),
    _plain("max_by", "any orderable", cells.first, cells.by_cells),
    _plain("bit_and", "integral", cells.first, same("bit_and")),
    _plain("bit_or", "integral", cells.first, same("bit_or")),
    _plain("bit_xor", "integral", cells.first, same("bit_xor")),
    _plain(
        *("any_value", "any flag", cells.first, cells.first_cells),
        called="first",
        optional=1,
        clauses="NULLS",
    ),
    _plain("first_value", "any flag", cells.first, cells.by_cells, optional=1, clauses="NULLS"),
    _plain("last_value", "any flag", cells.first, cells.by_cells, optional=1, clauses="NULLS"),
    _plain("mode", "orderable", cells.first),
)
_STATISTICS = (
    _moments("stddev_samp", "number", *_VARIANCE),
    _moments("stddev_pop", "number", *_VARIANCE),
    _moments("var_samp", "number", *_VARIANCE),
    _moments("var_pop", "number", *_VARIANCE),
    _moments("skewness", "number", *_VARIANCE, "m3"),
    _moments("kurtosis", "number", *_VARIANCE, "m3", "m4"),
    _moments("covar_samp", "number number", *_COVARIANCE),
    _moments("covar_pop", "number number", *_COVARIANCE),
    _moments("corr", "number number", *_COVARIANCE, "xMk", "yMk"),
    _plain(
        *("regr_count", "number number", always(BIGINT), cells.COUNT),
        called="count",
        nullable=False,
    ),
    _plain(
        *("regr_avgx", "number number", cells.avg_of_second_type, cells.avg_of_second_cells),
        called="avg",
    ),
    _plain("regr_avgy", "number number", cells.avg_type, cells.avg_cells, called="avg"),
    _moments("regr_sxx", "number number", *_VARIANCE, called="regrreplacement"),
    _moments("regr_syy", "number number", *_VARIANCE, called="regrreplacement"),
    _moments("regr_sxy", "number number", *_COVARIANCE),
    _moments("regr_slope", "number number", *_LINE),
    _moments("regr_intercept", "number number", *_LINE),
    _moments("regr_r2", "number number", *_COVARIANCE, "xMk", "yMk"),
    _plain("percentile", "numeric percentage integral", cells.percentile_type, optional=1),
    _plain("median", "numeric", cells.middle_type, called="percentile"),
    _plain(
        *("approx_percentile", "measurable percentage accuracy", cells.approx_percentile_type),
        optional=1,
    ),
)
_COLLECTIONS = (
    _plain("collect_list", "any", cells.array_of_first, nullable=False, clauses="ORDER"),
    _plain("collect_set", "orderable", cells.array_of_first, nullable=False, clauses="DISTINCT"),
    _plain("array_agg", "any", cells.array_of_first, nullable=False, clauses="ORDER DISTINCT"),
    _plain("listagg", "plain separator", cells.text_type, optional=1, clauses="ORDER"),
)
_SKETCHES = (
    _sketch("hll_sketch_agg", "countable size", optional=1),
    _sketch("hll_union_agg", "binary flag", optional=1),
    _sketch("theta_sketch_agg", "hashable size", optional=1),
    _sketch("theta_union_agg", "binary size", optional=1),
    _sketch("theta_intersection_agg", "binary"),
    _sketch("kll_sketch_agg_bigint", "integral size", optional=1),
    _sketch("kll_sketch_agg_float", "float size", optional=1),
    _sketch("kll_sketch_agg_double", "floating size", optional=1),
    _sketch("kll_merge_agg_bigint", "binary size", optional=1),
    _sketch("kll_merge_agg_float", "binary size", optional=1),
    _sketch("kll_merge_agg_double", "binary size", optional=1),
    _sketch("count_min_sketch", "countable share share size"),
    _bitmap("bitmap_construct_agg", "integral"),
    _bitmap("bitmap_or_agg", "binary"),
    _bitmap("bitmap_and_agg", "binary"),
    _plain("histogram_numeric", "measurable bins", cells.histogram_type, by_expr=True),
    _plain(
        *("approx_top_k", "plain size size", cells.top_type),
        by_expr=True,
        nullable=False,
        optional=2,
    ),
)
_FUNCTIONS = (*_COUNTS, *_SUMS, *_CHOICES, *_STATISTICS, *_COLLECTIONS, *_SKETCHES)
_TABLE = {function.name: function for function in _FUNCTIONS}
