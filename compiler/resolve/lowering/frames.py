"""Aggregates over rows that a program keeps, or over all rows so far.

    SUM(x)        SET total = coalesce(total + x, x, total)
    AVG(x)        the sum and the count, each a cell of its own
    VAR_POP(x)    the cells of its fold (``folds``)
    COLLECT_SET   a set, to which each row adds (``value_lists``)

A kept row has a field for the argument of each aggregate. NULLs do not count, as in GROUP BY.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import rewrite
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.aggregate_cells import sum_type
from ...model.programs import Add, Append, Cell, CellKind, If, IfBranch, ProgramStatement, SetCell
from ...model.reads import SizeCall
from ...model.schema import Field
from ...model.typed import Typed
from . import builders as parts
from . import folds, value_lists

ROW = "row"
"""The name of a lambda's parameter for a row of a frame."""

AGGREGATES = (
    frozenset("sum count avg min max bool_and bool_or first_value last_value nth_value".split())
    | folds.FOLDED
    | value_lists.SETS
    | value_lists.LISTS
)
"""The aggregates built here."""

APPROXIMATE = frozenset({"approx_count_distinct", "approx_percentile"})
"""Those that Spark approximates by a sketch: over kept rows they are exact."""

EXTREMES = {"min": "min", "bool_and": "min", "max": "max", "bool_or": "max"}
"""Aggregates that return the least or the greatest value."""


@dataclass(frozen=True, slots=True)
class RowsCall:
    """An aggregate over rows; ``name`` is the name of its value, and the prefix of its state.

    ``value`` is its argument for each row, NULL for one that its FILTER drops; None for COUNT(*).
    ``skips`` is IGNORE NULLS of FIRST_VALUE, LAST_VALUE and NTH_VALUE, ``constants`` are constant
    arguments. A call of several aggregates has them as ``parts``, and ``lower`` reads their values.
    """

    name: str
    function: str
    value: Typed | None
    type: t.Type
    nullable: bool
    span: Span
    skips: bool = False
    constants: tuple[e.Expression, ...] = ()
    parts: tuple[Part, ...] = ()
    lower: e.Expression | None = None

    @property
    def summed(self) -> t.Type:
        """The type in which values are summed."""
        return sum_type((self.given,))

    @property
    def given(self) -> t.Type:
        """The type of a row's argument."""
        assert self.value is not None
        return self.value.type

    @property
    def place(self) -> int:
        """The position of NTH_VALUE's row, counted from 1."""
        (number,) = self.constants
        assert isinstance(number, e.NumberLiteral)
        return int(number.text)


@dataclass(frozen=True, slots=True)
class Part:
    """One of several aggregates in a call: ``native`` represents its value in ``lower``.

    ``field`` is the field of the call's argument, None for all of it.
    """

    native: e.Expression
    call: RowsCall
    field: str | None

    def of(self, given: e.Expression | None) -> e.Expression | None:
        """Return this aggregate's part of the call's argument."""
        if given is None or self.call.value is None:
            return None
        return given if self.field is None else folds.part(given, self.field)


@dataclass(frozen=True, slots=True)
class Running:
    """An aggregate over all rows so far: its cells, and its value once they are up to date."""

    cells: tuple[Cell, ...]
    value: Typed


def kept_fields(
    time: Field, calls: Iterable[RowsCall], span: Span
) -> tuple[tuple[str, Typed], ...]:
    """Return the kept fields of a row: its instant, and each distinct argument of a call."""
    instant = e.ColumnRef(span, (Name(span, time.name),))
    fields = {time.name: Typed(instant, time.type, time.nullable)}
    for call in calls:
        value = call.value
        if value is None or value.expression in [f.expression for f in fields.values()]:
            continue
        plain = value.expression
        name = plain.parts[-1].text if isinstance(plain, e.ColumnRef) else call.name
        fields[parts.free_name(name, {field.lower() for field in fields})] = value
    return tuple(fields.items())


def last_rows(rows: e.Expression, count: int, row: e.Expression) -> e.Expression:
    """Return the last ``count`` rows of a list, and one more."""
    span = rows.span
    new = parts.call(span, "array", row)
    if not count:
        return new
    place = Name(span, "i")
    first = e.Binary(span, "-", parts.call(span, "size", rows), parts.number(span, count))
    is_last = e.Binary(span, ">=", e.ColumnRef(span, (place,)), first)
    body = e.Lambda(span, (Name(span, ROW), place), is_last)
    return with_new(parts.call(span, "filter", rows, body), new)


def with_new(rows: e.Expression, new: e.Expression) -> e.Expression:
    """Return rows, NULL if there are none, with new ones appended."""
    span = rows.span
    known = parts.call(span, "coalesce", rows, parts.call(span, "array"))
    return parts.call(span, "concat", known, new)


def total_type(call: RowsCall) -> t.Type:
    """Return the type of a running total: AVG sums whole numbers as a DOUBLE, as Spark does."""
    is_exact = isinstance(call.summed, t.Decimal | t.IntervalType)
    return t.DOUBLE if call.function == "avg" and not is_exact else call.summed


def added(span: Span, total: e.Expression, given: e.Expression, type_: t.Type) -> e.Expression:
    """Return a sum with one more value; either may be NULL."""
    both = e.Binary(span, "+", total, given)
    sum_ = parts.call(span, "coalesce", both, given, total)
    # The sum of two decimals has a digit more than either; all others keep the total's type.
    return parts.cast(sum_, type_) if isinstance(type_, t.Decimal) else sum_


def mean_of(call: RowsCall, total: e.Expression, count: e.Expression) -> e.Expression:
    """Return a mean with the type of AVG."""
    if isinstance(call.type, t.Decimal):
        count = parts.cast(count, t.Decimal(20, 0))
    mean = e.Binary(call.span, "/", total, count)
    return parts.cast(mean, call.type) if call.type != t.DOUBLE else mean


def lowered(expression: e.Expression, values: Mapping[e.Expression, e.Expression]) -> e.Expression:
    """Return an expression with its aggregates replaced by their values."""

    def place(node: Node) -> Node | None:
        return values.get(node) if isinstance(node, e.Expression) else None

    return rewrite(expression, place)


def running(call: RowsCall) -> Running:
    """Return the cells of an aggregate over all rows so far, and how its value is read."""
    span, name = call.span, call.name
    if call.lower is not None:
        return _running_parts(call, call.lower)
    match call.function:
        case "avg":
            total = _value_cell(f"{name}__sum", total_type(call))
            count = _counter(f"{name}__count", span)
            counted = parts.cell(span, count.name)
            # The sum is NULL before anything is counted: no division by zero.
            mean = mean_of(call, parts.cell(span, total.name), counted)
            return Running((total, count), Typed(mean, call.type))
        case "count":
            return _read(call, _counter(name, span))
        case "first_value" if not call.skips:
            held = t.Struct((t.Field("value", call.type),))
            first = _value_cell(f"{name}__first", held)
            return Running((first,), Typed(parts.cell(span, first.name, "value"), call.type))
        case "nth_value":
            count = _counter(f"{name}__count", span)
            return Running((count, value := _value_cell(name, call.type)), _of(call, value))
    if call.function in folds.FOLDED:
        return _running_fold(call)
    if call.function in value_lists.SETS:
        values = Cell(f"{name}__values", CellKind.SET, t.Array(call.given))
        read = parts.cell(span, values.name)
        if call.function != "collect_set":
            size = SizeCall(span, Name(span, "size"), (read,))
            return Running((values,), Typed(parts.cast(size, t.BIGINT), call.type))
        return Running((values,), Typed(read, call.type))
    if call.function in value_lists.LISTS:
        values = Cell(f"{name}__values", CellKind.LIST, t.Array(call.given))
        read = parts.cell(span, values.name)
        found = value_lists.of_list(call.function, read, call.constants, call.type)
        return Running((values,), Typed(found, call.type, call.nullable))
    return _read(call, _value_cell(name, call.type))


def _running_parts(call: RowsCall, lower: e.Expression) -> Running:
    found = {one.native: running(one.call) for one in call.parts}
    values = {native: one.value.expression for native, one in found.items()}
    cells = tuple(cell for one in found.values() for cell in one.cells)
    return Running(cells, Typed(lowered(lower, values), call.type, call.nullable))


def _running_fold(call: RowsCall) -> Running:
    span = call.span
    found = folds.fold(call.function, call.given, span)
    cells = tuple(_held_cell(call, one) for one in found.held)
    value = found.value([parts.cell(span, cell.name) for cell in cells])
    return Running(cells, Typed(value, call.type, call.nullable))


def _held_cell(call: RowsCall, held: folds.Held) -> Cell:
    name = f"{call.name}__{held.name}" if held.name else call.name
    if held.initial is None:
        return _value_cell(name, held.type)
    return _value_cell(name, held.type, Typed(held.initial, held.type, nullable=False))


def _value_cell(name: str, type_: t.Type, default: Typed | None = None) -> Cell:
    return Cell(name, CellKind.VALUE, type_, default)


def _counter(name: str, span: Span) -> Cell:
    none = Typed(parts.cast(parts.number(span, 0), t.BIGINT), t.BIGINT, nullable=False)
    return _value_cell(name, t.BIGINT, none)


def _read(call: RowsCall, cell: Cell) -> Running:
    return Running((cell,), _of(call, cell))


def _of(call: RowsCall, cell: Cell) -> Typed:
    return Typed(parts.cell(call.span, cell.name), call.type, call.nullable)


def advanced(
    call: RowsCall, cells: tuple[Cell, ...], given: e.Expression | None
) -> tuple[ProgramStatement, ...]:
    """Return a row's update of a running aggregate; ``given`` is its argument, None for COUNT(*).

    ``cells`` are those of ``running``, under their final names.
    """
    if call.lower is not None:
        return tuple(_advanced_parts(call, cells, given))
    span = call.span
    here = parts.cell(span, cells[0].name)
    if call.function == "count":
        return (_count(call, cells[0], given),)
    assert given is not None
    match call.function:
        case "avg":
            total = added(span, here, given, cells[0].type)
            return (_set(cells[0], total), _count(call, cells[1], given))
        case "sum":
            return (_set(cells[0], added(span, here, given, cells[0].type)),)
        case "min" | "bool_and":
            return (_set(cells[0], parts.call(span, "least", here, given)),)
        case "max" | "bool_or":
            return (_set(cells[0], parts.call(span, "greatest", here, given)),)
        case "first_value":
            if not call.skips:
                given = parts.struct(span, [("value", Typed(given, call.type))]).expression
            return (_set(cells[0], parts.call(span, "coalesce", here, given)),)
        case "last_value":
            last = parts.call(span, "coalesce", given, here) if call.skips else given
            return (_set(cells[0], last),)
        case "nth_value":
            return _advanced_place(call, cells, given)
    if call.function in folds.FOLDED:
        return (_advanced_fold(call, cells, given),)
    conditions, value = _counted_value(given)
    step = Add if cells[0].kind is CellKind.SET else Append
    more = step(cells[0].name, Typed(value, call.given))
    is_struct = isinstance(value, e.Call) and value.name.text in ("struct", "named_struct")
    conditions += [] if is_struct else [parts.is_known(value)]
    return (_if(conditions, more) if conditions else more,)


def _counted_value(given: e.Expression) -> tuple[list[e.Expression], e.Expression]:
    """Return a row's argument, and the condition of a FILTER that keeps it."""
    match given:
        case e.Case(_, None, (e.When(_, condition, value),), None):
            return [condition], value
    return [], given


def _advanced_parts(
    call: RowsCall, cells: tuple[Cell, ...], given: e.Expression | None
) -> Iterator[ProgramStatement]:
    for one in call.parts:
        count = len(running(one.call).cells)
        own, cells = cells[:count], cells[count:]
        yield from advanced(one.call, own, one.of(given))


def _advanced_fold(
    call: RowsCall, cells: tuple[Cell, ...], given: e.Expression
) -> ProgramStatement:
    found = folds.fold(call.function, call.given, call.span)
    conditions, value = _counted_value(given)
    after = found.after([parts.cell(call.span, cell.name) for cell in cells], value)
    return _if([*conditions, found.counts(value)], *map(_set, cells, after))


def _advanced_place(
    call: RowsCall, cells: tuple[Cell, ...], given: e.Expression
) -> tuple[ProgramStatement, ...]:
    """Return the steps of NTH_VALUE: a row is counted, and kept if it is the n-th."""
    span, count = call.span, cells[0]
    counted = _count(call, count, given if call.skips else None)
    place = parts.number(span, call.place)
    is_it: list[e.Expression] = [e.Binary(span, "=", parts.cell(span, count.name), place)]
    is_it += [parts.is_known(given)] if call.skips else []
    return (counted, _if(is_it, _set(cells[1], given)))


def _if(conditions: Sequence[e.Expression], *body: ProgramStatement) -> ProgramStatement:
    whole = parts.all_of(conditions)
    assert whole is not None
    return If((IfBranch(whole, body),), ())


def _set(cell: Cell, value: e.Expression) -> SetCell:
    return SetCell(cell.name, Typed(value, cell.type))


def _count(call: RowsCall, cell: Cell, given: e.Expression | None) -> SetCell:
    span = call.span
    one: e.Expression = parts.number(span, 1)
    if given is not None and (call.value is None or call.value.nullable):
        counts = e.When(span, parts.is_known(given), one)
        one = e.Case(span, None, (counts,), parts.number(span, 0))
    return _set(cell, e.Binary(span, "+", parts.cell(span, cell.name), one))
