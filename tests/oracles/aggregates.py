"""Every aggregate of ``aggregates.stream`` in plain Python, over the rows of one group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from math import ceil, sqrt
from operator import and_, or_, xor
from typing import Any

from .streams import BASE, Row

Rows = list[Row]


@dataclass(frozen=True)
class OneOf:
    """A result that may be any of these."""

    values: tuple[Any, ...]


def known(rows: Rows, name: str) -> list[Any]:
    """Return the values of a column that are not NULL."""
    return [row[name] for row in rows if row[name] is not None]


def where(rows: Rows, name: str, holds: Callable[[Any], bool] = bool) -> Rows:
    """Return the rows in which a column is not NULL and fulfils a condition."""
    return [row for row in rows if row[name] is not None and holds(row[name])]


def nulls_first(value: Any) -> tuple[bool, Any]:
    """Return a key by which NULL sorts before all values."""
    return (value is not None, 0 if value is None else value)


def by(*names: str) -> Callable[[Row], list[tuple[bool, Any]]]:
    """Return a sort key of several columns."""
    return lambda row: [nulls_first(row[name]) for name in names]


def total(values: list[Any]) -> Any:
    """Return the sum, NULL of nothing."""
    return sum(values[1:], values[0]) if values else None


def mean(values: list[Any]) -> float | None:
    """Return the mean, NULL of nothing."""
    return float(sum(values)) / len(values) if values else None


def moment(values: list[Any], power: int) -> float:
    """Return the sum of powers of the distances from the mean."""
    middle = mean(values) or 0.0
    return sum((float(value) - middle) ** power for value in values)


def over(numerator: float, denominator: float) -> float | None:
    """Return a quotient, NULL instead of a division by zero."""
    return None if denominator == 0 else numerator / denominator


def pairs(rows: Rows) -> list[tuple[float, float]]:
    """Return (x, y) = (e, d) where neither is NULL."""
    return [(row["e"], row["d"]) for row in rows if None not in (row["d"], row["e"])]


def line(rows: Rows) -> dict[str, float | None]:
    """Return the regression of d on e, and what it is made of."""
    found = pairs(rows)
    xs, ys = [x for x, _ in found], [y for _, y in found]
    n, xx, yy = len(found), moment(xs, 2), moment(ys, 2)
    x_mean, y_mean = mean(xs), mean(ys)
    xy = sum((x - (x_mean or 0)) * (y - (y_mean or 0)) for x, y in found)
    slope = over(xy, xx) if n > 1 else None
    none = n == 0
    return {
        "covar_samp": over(xy, n - 1) if n > 1 else None,
        "covar_pop": over(xy, n),
        "corr": over(xy, sqrt(xx * yy)) if n > 1 else None,
        "regr_count": n,
        "regr_avgx": x_mean,
        "regr_avgy": y_mean,
        "regr_sxx": None if none else xx,
        "regr_sxy": None if none else xy,
        "regr_syy": None if none else yy,
        "regr_slope": slope,
        "regr_intercept": None if slope is None else (y_mean or 0) - slope * (x_mean or 0),
        "regr_r2": None if none or xx == 0 else (1.0 if yy == 0 else xy**2 / (xx * yy)),
    }


def percentile(values: list[Any], share: float) -> float | None:
    """Return the percentile, between two values where it falls between them."""
    if not values:
        return None
    ordered = sorted(float(value) for value in values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def at_rank(values: list[Any], share: float) -> Any:
    """Return the least value that at least this share is not greater than."""
    return sorted(values)[max(ceil(share * len(values)), 1) - 1] if values else None


def mode(values: list[Any]) -> Any:
    """Return the most frequent value, the least of several."""
    counts = Counter(values)
    return min((value for value in counts if counts[value] == max(counts.values())), default=None)


def folded(rows: Rows, function: Callable[[int, int], int]) -> int | None:
    """Return what a bit function makes of n."""
    values = known(rows, "n")
    return reduce(function, values) if values else None


def chosen(rows: Rows) -> dict[str, Any]:
    """Return the columns of the stream ``chosen``."""
    in_time = sorted(rows, key=by("ts", "s"))
    spans = [(row["ts"] - BASE).total_seconds() for row in rows]
    distinct = len(set(known(rows, "s")))
    both = {(row["s"], row["b"]) for row in rows if None not in (row["s"], row["b"])}
    last_n = sorted(where(rows, "b"), key=by("ts", "n"))
    return {
        "count_rows": len(rows),
        "count_i": len(known(rows, "i")),
        "count_both": sum(None not in (row["i"], row["s"]) for row in rows),
        "count_distinct": distinct,
        "count_distinct_both": len(both),
        "count_if": len(where(rows, "b")),
        "count_filtered": len(where(rows, "i", lambda i: i > 0)),
        "about_distinct": OneOf((distinct - 1, distinct, distinct + 1)),
        "sum_i": total(known(rows, "i")),
        "sum_d": total(known(rows, "d")),
        "sum_m": total(known(rows, "m")),
        "sum_filtered": total(known(where(rows, "b"), "d")),
        "try_sum": total(known(rows, "n")),
        "avg_i": mean(known(rows, "i")),
        "avg_m": _rounded(known(rows, "m")),
        "try_avg": mean(known(rows, "d")),
        "sum_span": total(spans),
        "avg_span": mean(spans),
        "min_s": min(known(rows, "s"), default=None),
        "max_m": max(known(rows, "m"), default=None),
        "min_ts": min(row["ts"] for row in rows),
        "max_d": max(known(rows, "d"), default=None),
        "min_by": min(rows, key=by("m", "n"))["n"],
        "max_by": max(rows, key=by("i", "s"))["s"],
        "first_s": in_time[0]["s"],
        "first_i": next(iter(known(sorted(rows, key=by("ts", "i")), "i")), None),
        "last_m": max(rows, key=by("ts", "m"))["m"],
        "last_s": next(reversed(known(in_time, "s")), None),
        "last_filtered": last_n[-1]["n"] if last_n else None,
        "any_i": OneOf(tuple(row["i"] for row in rows)),
        "any_s": OneOf(tuple(known(rows, "s")) or (None,)),
        "mode_s": mode(known(rows, "s")),
        "bool_and": all(known(rows, "b")) if known(rows, "b") else None,
        "bool_or": any(known(rows, "b")) if known(rows, "b") else None,
        "bit_and": folded(rows, and_),
        "bit_or": folded(rows, or_),
        "bit_xor": folded(rows, xor),
    }


def _rounded(values: list[Decimal]) -> Decimal | None:
    return (sum(values) / Decimal(len(values))).quantize(Decimal("1e-6")) if values else None


def measured(rows: Rows) -> dict[str, Any]:
    """Return the columns of the stream ``measured``."""
    d, i, m, n, s = (known(rows, name) for name in ("d", "i", "m", "n", "s"))
    m2, m3, m4 = (moment(d, power) for power in (2, 3, 4))
    many = [row["i"] for row in rows for _ in range(row["n"] or 0) if row["i"] is not None]
    in_time = known(sorted(rows, key=by("ts", "s")), "s")
    top = sorted(Counter(row["s"] for row in rows).values(), reverse=True)[:2]
    by_n_then_i = sorted(rows, key=by("n", "i"), reverse=True)
    by_n_then_s = known(sorted(rows, key=by("n", "s"), reverse=True), "s")
    return {
        "stddev_samp": sqrt(m2 / (len(d) - 1)) if len(d) > 1 else None,
        "stddev_pop": sqrt(moment(i, 2) / len(i)) if i else None,
        "var_samp": moment(m, 2) / (len(m) - 1) if len(m) > 1 else None,
        "var_pop": m2 / len(d) if d else None,
        "skewness": over(sqrt(len(d)) * m3, sqrt(m2**3)),
        "kurtosis": over(len(d) * m4 - 3 * m2 * m2, m2 * m2),
        **line(rows),
        "percentile": percentile(n, 0.25),
        "percentiles": [percentile(d, share) for share in (0, 0.5, 1)] if d else None,
        "percentile_of_many": percentile(many, 0.5),
        "median": percentile(d, 0.5),
        "about_median": at_rank(n, 0.5),
        "array_agg": in_time,
        "array_agg_ordered": known(by_n_then_i, "i"),
        "array_agg_distinct": sorted(set(s)),
        "collect_list": sorted(i),
        "collect_set": sorted(set(i)),
        "listagg": "-".join(in_time) if s else None,
        "listagg_ordered": "-".join(by_n_then_s) if s else None,
        "histogram": len(d) if d else None,
        # An empty text is nothing to these sketches.
        "hll": len(set(s) - {""}),
        "theta": len(set(s) - {""}),
        "kll": at_rank(d, 0.5),
        "top_counts": top,
        "bits": len({max(value - 1, 0) for value in n}),
    }
