"""Cells derived from other cells: an average from a sum and a count, and the reverse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ....contracts.plan import Aggregate, AggregateCell
from ....contracts.records import dataclass
from ....dsl.ast.expressions import Call
from ....dsl.format import identifier, sql
from ....dsl.parsing.parse import parse_expression
from ....dsl.reports.source import SourceFile
from ..compared.versions import Meaning
from ..types.conversions import cast, convert

_MOMENTS = ("var_samp", "var_pop", "stddev_samp", "stddev_pop", "skewness", "kurtosis")
"""Functions that keep count, mean and deviations of the same rows, more or fewer of them."""


@dataclass(frozen=True, slots=True)
class Sense:
    """What an aggregate computes: a function, its arguments and its filter, in all branches."""

    function: str
    arguments: Meaning
    filter: Meaning


@dataclass(frozen=True, slots=True)
class Derived:
    """The SQL of each cell, and the aggregates that it is derived from."""

    cells: tuple[str, ...]
    sources: tuple[str, ...]


Known: TypeAlias = Mapping[Sense, Aggregate]
"""Old aggregates by what they compute."""


def sense(meaning: Meaning) -> Sense | None:
    """Return what an aggregate computes, None when it is not one call."""
    calls = []
    for text in meaning:
        tree, _ = parse_expression(SourceFile("aggregate", text))
        if not isinstance(tree, Call) or tree.distinct or tree.order_by:
            return None
        calls.append(tree)
    names = {call.name.text.lower() for call in calls}
    if len(names) != 1:
        return None
    arguments = tuple(", ".join(sql(one) for one in call.arguments) for call in calls)
    filters = tuple("" if call.filter is None else sql(call.filter) for call in calls)
    return Sense(names.pop(), arguments, filters)


def derive(wanted: Sense, new: Aggregate, known: Known, never_null: bool) -> Derived | None:
    """Return the cells of a new aggregate from old ones; None when they can't be derived.

    ``never_null`` says that its argument is never NULL, so that counting it is counting rows.
    """
    for rule in (_average, _count, _total, _fewer_moments):
        for found in rule(_Question(wanted, new, known, never_null)):
            return found
    return None


@dataclass(frozen=True, slots=True)
class _Question:
    wanted: Sense
    new: Aggregate
    known: Known
    never_null: bool

    def other(self, function: str, arguments: Meaning | None = None) -> Aggregate | None:
        """Return the old aggregate of a function with the requested arguments and filter."""
        asked = self.wanted.arguments if arguments is None else arguments
        return self.known.get(Sense(function, asked, self.wanted.filter))


Rule: TypeAlias = Callable[[_Question], Iterator[Derived]]


def _average(asked: _Question) -> Iterator[Derived]:
    """AVG from SUM and COUNT."""
    total = asked.other("sum")
    count = asked.other("count") or (asked.never_null and asked.other("count", ("*",))) or None
    if asked.wanted.function != "avg" or total is None or count is None:
        return
    was, now = total.cells[0], asked.new.cells[0]
    held, wanted = (was.type, was.scale), (now.type, now.scale)
    value = _column(was)
    converted = convert(value, held, wanted)
    if converted is None and now.type == "DOUBLE" and held[1] == wanted[1]:
        converted = cast(value, "DOUBLE")
    if converted is not None:
        zero = f"coalesce({converted}, {cast('0', now.type)})"
        overflows = len(total.cells) > 1
        yield Derived(
            (converted if overflows else zero, _column(count.cells[0])),
            (total.id, count.id),
        )


def _count(asked: _Question) -> Iterator[Derived]:
    """COUNT from an aggregate that counts the same rows: AVG, a variance; any, without NULLs."""
    if asked.wanted.function != "count":
        return
    rows = asked.wanted.arguments == ("*",)
    if not rows:
        yield from _counted(asked.other("avg"), "count")
        for name in _MOMENTS:
            yield from _counted(asked.other(name), "n")
        if asked.never_null:
            yield from _counted(asked.other("count", ("*",)), "count")


def counts_rows(
    known: Known, filter_: Meaning, never_null: Callable[[Meaning], bool]
) -> Derived | None:
    """Return COUNT(*) from an aggregate that counts a column that is never NULL."""
    for buffer, names in (("count", ("count", "avg")), ("n", _MOMENTS)):
        for one, aggregate in known.items():
            if one.function in names and one.filter == filter_ and never_null(one.arguments):
                for found in _counted(aggregate, buffer):
                    return found
    return None


def _counted(aggregate: Aggregate | None, buffer: str) -> Iterator[Derived]:
    if aggregate is None:
        return
    for cell in aggregate.cells:
        if cell.buffer == buffer:
            text = _column(cell)
            counted = text if cell.type == "BIGINT" else cast(text, "BIGINT")
            yield Derived((counted,), (aggregate.id,))


def _total(asked: _Question) -> Iterator[Derived]:
    """SUM from AVG, where that keeps the sum like SUM."""
    average = asked.other("avg")
    if asked.wanted.function != "sum" or average is None:
        return
    was, now = average.cells[0], asked.new.cells[0]
    if (was.type, was.scale) != (now.type, now.scale):
        return
    total, count = (_column(cell) for cell in average.cells)
    if len(asked.new.cells) > 1:
        yield Derived((total, f"{count} = 0"), (average.id,))
    else:
        yield Derived((f"CASE WHEN {count} > 0 THEN {total} END",), (average.id,))


def _fewer_moments(asked: _Question) -> Iterator[Derived]:
    """A variance from another one with the same cells, or from an aggregate with more."""
    if asked.wanted.function not in _MOMENTS:
        return
    for name in _MOMENTS:
        other = asked.other(name)
        cells = {} if other is None else {c.buffer: c for c in other.cells}
        buffers = [cell.buffer for cell in asked.new.cells]
        if other is not None and set(buffers) <= cells.keys():
            yield Derived(tuple(_column(cells[b]) for b in buffers), (other.id,))


def _column(cell: AggregateCell) -> str:
    return identifier(cell.id)
