"""Actual rows of a sink against expected ones."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

from ...contracts.records import dataclass
from ..model import types as t
from .matching import cell_key, matched
from .model import TOLERANCE, Column, Expect, Row
from .values import Value, spark_value

_MOST_PAIRS = 250_000
"""How many pairs of a missing and an unexpected row are examined for changed rows."""

Got = Mapping[str, Value]
"""An actual row of a sink, by column."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences; without any the test passes.

    ``matched`` are pairs of positions: of an expected row and of the row that matches it. A changed
    row is an expected one and the actual one in its place. ``disordered`` says that all rows are
    present in another order.
    """

    expect: Expect
    got: tuple[Got, ...]
    matched: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    unexpected: tuple[int, ...]
    changed: tuple[tuple[int, int], ...]
    disordered: bool

    @property
    def holds(self) -> bool:
        """Whether the sink got the expected rows."""
        return not (self.missing or self.unexpected or self.changed or self.disordered)


def compare(
    expect: Expect, found: Iterable[Mapping[str, Value]], keys: Sequence[str] = ()
) -> Comparison:
    """Compare with rows in Spark's JSON.

    Rows that are equal in ``keys`` are one changed row; without keys, or where several are equal, a
    row has changed into one that shares at least half of its cells.
    """
    got = tuple(
        {c.name: spark_value(row.get(c.name), c.type) for c in expect.columns} for row in found
    )
    exact = [c for c in expect.columns if not _is_loose(c.type)]
    pairs = matched(expect, got, lambda c, a, b: _like(expect, c, a, b), exact)
    missing = _without(range(len(expect.rows)), {a for a, _ in pairs})
    rest = _without(range(len(got)), {b for _, b in pairs})
    changed = _same(expect, got, missing, rest, keys) if keys else []
    changed += _changed(
        expect,
        got,
        _without(missing, {a for a, _ in changed}),
        _without(rest, {b for _, b in changed}),
    )
    changed.sort()
    order = [b for _, b in pairs]
    return Comparison(
        expect,
        got,
        tuple(pairs),
        tuple(_without(missing, {a for a, _ in changed})),
        () if expect.contains else tuple(_without(rest, {b for _, b in changed})),
        tuple(changed),
        expect.ordered and not missing and order != sorted(order),
    )


def _without(places: Iterable[int], taken: set[int]) -> list[int]:
    return [place for place in places if place not in taken]


def cells_equal(expect: Expect, column: Column, row: Row, got: Got) -> bool:
    """Whether a cell is as expected, or not given."""
    if column.name not in row.values:
        return True
    return _like(expect, column, row.values, got)


def _like(expect: Expect, column: Column, wanted: Got, got: Got) -> bool:
    return _equal(wanted[column.name], got[column.name], column.type, expect.tolerance)


def _key(row: Got, columns: Iterable[Column]) -> Hashable:
    return tuple(cell_key(row[c.name]) for c in columns)


def _same(
    expect: Expect,
    got: Sequence[Got],
    missing: Sequence[int],
    rest: Sequence[int],
    keys: Sequence[str],
) -> list[tuple[int, int]]:
    """Return pairs of a missing and an unexpected row that alone have the same keys."""
    columns = [c for c in expect.columns if c.name in keys]
    sides: tuple[dict[Hashable, list[int]], dict[Hashable, list[int]]] = ({}, {})
    for place in missing:
        row = expect.rows[place].values
        if all(c.name in row for c in columns):
            sides[0].setdefault(_key(row, columns), []).append(place)
    for place in rest:
        sides[1].setdefault(_key(got[place], columns), []).append(place)
    return [
        (places[0], sides[1][key][0])
        for key, places in sides[0].items()
        if len(places) == len(sides[1].get(key, ())) == 1
    ]


def _changed(
    expect: Expect, got: Sequence[Got], missing: Sequence[int], rest: Sequence[int]
) -> list[tuple[int, int]]:
    """Return pairs of a missing row and one that shares at least half of its cells."""
    if len(missing) * len(rest) > _MOST_PAIRS:
        return []
    ranked = []
    for a in missing:
        row = expect.rows[a]
        given = [c for c in expect.columns if c.name in row.values]
        for b in rest:
            equal = [cells_equal(expect, c, row, got[b]) for c in given]
            if len(given) <= 2 * sum(equal):
                # Of equally similar rows, one with the same first columns: keys are first.
                ranked.append((-sum(equal), [not same for same in equal], a, b))
    found: list[tuple[int, int]] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    for _, _, a, b in sorted(ranked):
        if a not in taken[0] and b not in taken[1]:
            found.append((a, b))
            taken[0].add(a)
            taken[1].add(b)
    return sorted(found)


def _is_loose(type_: t.Type) -> bool:
    """Whether values of a type may match without being equal."""
    match type_:
        case t.Array(element):
            return _is_loose(element)
        case t.Map(_, value):
            return _is_loose(value)
        case t.Struct(fields):
            return any(_is_loose(field.type) for field in fields)
    return type_ in (t.FLOAT, t.DOUBLE, t.VARIANT, t.UNKNOWN, t.NULL)


def _equal(expected: Value, got: Value, type_: t.Type, tolerance: float | None) -> bool:
    match type_, expected, got:
        case t.Array(element), list(), list():
            return len(expected) == len(got) and all(
                _equal(a, b, element, tolerance) for a, b in zip(expected, got, strict=True)
            )
        case t.Map(_, value), dict(), dict():
            return expected.keys() == got.keys() and all(
                _equal(expected[key], got[key], value, tolerance) for key in expected
            )
        case t.Struct(fields), dict(), dict():
            return all(_equal(expected[f.name], got[f.name], f.type, tolerance) for f in fields)
    if _is_loose(type_) and _are_numbers(expected, got):
        default = TOLERANCE.get(str(type_), TOLERANCE["DOUBLE"])
        return _near(expected, got, default if tolerance is None else tolerance)
    return bool(expected == got)


def _are_numbers(*values: Value) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def _near(a: float, b: float, tolerance: float) -> bool:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return True
    if math.isinf(a) or math.isinf(b) or math.isnan(a) or math.isnan(b):
        return False
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
