"""How two states of one aggregate merge, and what an aggregate holds before its first row.

Both are Spark's own: how its functions merge partial aggregates, and their initial values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ....contracts.plan import Aggregate, AggregateCell
from ....dsl.format import identifier
from ..types.conversions import cast
from .buffers import WHOLE, merging_call

Names: TypeAlias = Mapping[str, str]
"""The columns of an aggregate's cells, in SQL, by the names of their buffers."""

BUFFERS = "buffers"
"""The merge of buffers by their function."""

_REGISTERS = "registers"
"""The merge of words of registers, keeping the largest of each."""

_SAME = {"min": "min", "max": "max", "bit_and": "bit_and", "bit_or": "bit_or", "bit_xor": "bit_xor"}
"""Functions whose values merge like their rows."""

_OF_BOOLEANS = {"min": "bool_and", "max": "bool_or"}


def merge_of(aggregate: Aggregate, cell: AggregateCell) -> str | None:
    """Return the SQL aggregate that merges a cell, by name if Spark has it; None without one.

    It is over rows that have all cells of the aggregate as columns: ``"sum"`` is ``sum(cell)``.
    """
    function, buffer = aggregate.function, cell.buffer
    names = {one.buffer: identifier(one.id) for one in aggregate.cells}
    if buffer == WHOLE:
        return None if merging_call(aggregate) is None else BUFFERS
    if len(names) != len(aggregate.cells):
        return None
    if function == "approx_count_distinct":
        return _REGISTERS
    if function in _SAME:
        of_booleans = _OF_BOOLEANS if cell.type == "BOOLEAN" else {}
        return of_booleans.get(function, _SAME[function])
    found = _MERGES.get((function, tuple(names)), {}).get(buffer)
    return found(names) if callable(found) else found


def start_of(aggregate: Aggregate, cell: AggregateCell) -> str:
    """Return the value of a cell before the first row, in SQL."""
    buffer = cell.buffer
    if buffer == WHOLE and aggregate.function in _COLLECTIONS:
        return f"unhex('{_NO_ELEMENTS}')"
    if buffer == "bitmap":
        every = "FF" if aggregate.function == "bitmap_and_agg" else "00"
        return f"unhex(repeat('{every}', {_BITMAP_BYTES}))"
    several = len(aggregate.cells) > 1
    value = "0" if several or buffer == "count" else "NULL"
    value = _STARTS.get(buffer, value)
    return cast(value, cell.type)


def is_opaque(aggregate: Aggregate, cell: AggregateCell) -> bool:
    """Whether only Spark can create the initial value of a cell."""
    return cell.buffer == WHOLE and aggregate.function not in _COLLECTIONS


_COLLECTIONS = ("array_agg", "collect_list", "collect_set", "count_distinct")
_NO_ELEMENTS = "000000000000000008000000100000000000000000000000"
"""Spark's row of one array: no NULLs, 8 bytes after the first 16, no elements."""

_BITMAP_BYTES = 4096
"""The length of all bitmaps of Spark."""

_STARTS = {
    "isEmpty": "TRUE",
    "valueSet": "FALSE",
    "first": "NULL",
    "valueWithExtremumOrdering": "NULL",
    "extremumOrdering": "NULL",
}


# Merges of several buffers.

_ZERO = "CAST(0 AS DOUBLE)"


def _sum(names: Names) -> str:
    """Add sums, unless one has overflowed, which a NULL in a non-empty sum shows."""
    broken = f"bool_or({names['sum']} IS NULL AND NOT {names['isEmpty']})"
    return f"CASE WHEN {broken} THEN NULL ELSE sum({names['sum']}) END"


def _avg(names: Names) -> str:
    total = names["sum"]
    return f"CASE WHEN bool_or({total} IS NULL) THEN NULL ELSE sum({total}) END"


def _by(function: str) -> Callable[[Names], str]:
    def merge(names: Names) -> str:
        return f"{function}({names['valueWithExtremumOrdering']}, {names['extremumOrdering']})"

    return merge


def _any(names: Names) -> str:
    return f"max_by({names['first']}, {names['valueSet']})"


def _bitmap(function: str) -> Callable[[Names], str]:
    return lambda names: f"{function}({names['bitmap']})"


def _moments(result: str) -> Callable[[Names], str]:
    """Return the pairwise merge of counts, means and squared deviations (Chan, Golub, LeVeque)."""

    def merge(names: Names) -> str:
        n, mean, m2 = names["n"], names["avg"], names["m2"]
        share = "b.n / (a.n + b.n)"
        step = (
            f"CASE WHEN b.n = 0 THEN a ELSE named_struct('n', a.n + b.n, "
            f"'avg', a.avg + (b.avg - a.avg) * {share}, "
            f"'m2', a.m2 + b.m2 + (b.avg - a.avg) * (b.avg - a.avg) * a.n * {share}) END"
        )
        parts = f"collect_list(named_struct('n', {n}, 'avg', {mean}, 'm2', {m2}))"
        start = f"named_struct('n', {_ZERO}, 'avg', {_ZERO}, 'm2', {_ZERO})"
        return f"aggregate({parts}, {start}, (a, b) -> {step}, a -> a.{result})"

    return merge


def _products(result: str) -> Callable[[Names], str]:
    """Return the pairwise merge of counts, means and products of deviations."""

    def merge(names: Names) -> str:
        n, x, y, ck = (names[name] for name in ("n", "xAvg", "yAvg", "ck"))
        share = "b.n / (a.n + b.n)"
        step = (
            f"CASE WHEN b.n = 0 THEN a ELSE named_struct('n', a.n + b.n, "
            f"'x', a.x + (b.x - a.x) * {share}, 'y', a.y + (b.y - a.y) * {share}, "
            f"'ck', a.ck + b.ck + (b.x - a.x) * (b.y - a.y) * a.n * {share}) END"
        )
        parts = f"collect_list(named_struct('n', {n}, 'x', {x}, 'y', {y}, 'ck', {ck}))"
        start = f"named_struct('n', {_ZERO}, 'x', {_ZERO}, 'y', {_ZERO}, 'ck', {_ZERO})"
        return f"aggregate({parts}, {start}, (a, b) -> {step}, a -> a.{result})"

    return merge


Merges: TypeAlias = Mapping[str, str | Callable[[Names], str]]

_MOMENTS: Merges = {"n": "sum", "avg": _moments("avg"), "m2": _moments("m2")}
_PRODUCTS: Merges = {
    "n": "sum",
    "xAvg": _products("x"),
    "yAvg": _products("y"),
    "ck": _products("ck"),
}
_MERGES: Mapping[tuple[str, tuple[str, ...]], Merges] = {
    ("count", ("count",)): {"count": "sum"},
    ("sum", ("sum",)): {"sum": "sum"},
    ("sum", ("sum", "isEmpty")): {"sum": _sum, "isEmpty": "bool_and"},
    ("try_sum", ("sum",)): {"sum": "sum"},
    ("avg", ("sum", "count")): {"sum": _avg, "count": "sum"},
    ("first", ("first", "valueSet")): {"first": _any, "valueSet": "bool_or"},
    **{
        (name, ("valueWithExtremumOrdering", "extremumOrdering")): {
            "valueWithExtremumOrdering": _by(name),
            "extremumOrdering": name.removesuffix("_by"),
        }
        for name in ("min_by", "max_by")
    },
    **{
        (name, ("n", "avg", "m2")): _MOMENTS
        for name in ("stddev_samp", "stddev_pop", "var_samp", "var_pop", "regrreplacement")
    },
    **{
        (name, ("bitmap",)): {"bitmap": _bitmap(name.replace("construct", "or"))}
        for name in ("bitmap_construct_agg", "bitmap_or_agg", "bitmap_and_agg")
    },
    **{(name, ("n", "xAvg", "yAvg", "ck")): _PRODUCTS for name in ("covar_samp", "covar_pop")},
}
