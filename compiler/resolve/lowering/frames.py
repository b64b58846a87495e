"""Aggregates over rows that a program keeps: those of a frame, or all that have come so far.

    over rows    SUM(x)   aggregate(rows, CAST(NULL AS BIGINT), (so_far, row) -> …)
                 MAX(x)   array_max(transform(rows, row -> row.x))
    running      SUM(x)   SET total = coalesce(total + x, x, total)
                 AVG(x)   the sum and the count, each a cell of its own

Rows are structs in the order in which they were handled; what an aggregate is given is a field of
them. NULLs do not count, as in GROUP BY.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.records import dataclass
from ....dsl.source import Span
from ...model import types as t
from ...model.aggregate_cells import sum_type
from ...model.programs import Cell, CellKind, ProgramStatement, SetCell
from ...model.schema import Field
from ...model.typed import Typed
from . import parts

ROW = "row"
"""What a lambda calls a row of a frame."""

AGGREGATES = frozenset({"sum", "count", "avg", "min", "max", "first_value", "last_value"})
"""The aggregates that are built here."""


@dataclass(frozen=True, slots=True)
class RowsCall:
    """An aggregate over rows; ``name`` is what its value is called, and its state begins with.

    ``value`` is what each row gives it, NULL for one that its FILTER leaves out; None of COUNT(*).
    ``skips`` is IGNORE NULLS of FIRST_VALUE and LAST_VALUE.
    """

    name: str
    function: str
    value: Typed | None
    type: t.Type
    nullable: bool
    span: Span
    skips: bool = False

    @property
    def summed(self) -> t.Type:
        """The type in which values are added up."""
        assert self.value is not None
        return sum_type((self.value.type,))


@dataclass(frozen=True, slots=True)
class Running:
    """An aggregate over all rows so far: its cells, and its value once they are up to date."""

    cells: tuple[Cell, ...]
    value: Typed


def kept_fields(
    time: Field, calls: Iterable[RowsCall], span: Span
) -> tuple[tuple[str, Typed], ...]:
    """Return what is kept of a row: its instant, and what each call is given, once."""
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
    """Return rows, NULL of none, with new ones behind them."""
    span = rows.span
    known = parts.call(span, "coalesce", rows, parts.call(span, "array"))
    return parts.call(span, "concat", known, new)


def over_rows(call: RowsCall, rows: e.Expression, field: str | None) -> Typed:
    """Return an aggregate over the rows of a frame, which is never empty.

    ``field`` is the field of a row that holds its argument.
    """
    return Typed(_over(call, rows, field), call.type, call.nullable)


def _over(call: RowsCall, rows: e.Expression, field: str | None) -> e.Expression:
    span = call.span
    if field is None:
        return parts.cast(parts.call(span, "size", rows), t.BIGINT)
    given = _lambda_column(span, field)
    known = parts.call(span, "filter", rows, _of_row(span, parts.is_known(given)))
    match call.function:
        case "count":
            return parts.cast(parts.call(span, "size", known), t.BIGINT)
        case "sum":
            return _sum(call, rows, given)
        case "avg":
            count = parts.call(span, "size", known)
            return _mean(call, _sum(call, rows, given), count)
        case "min" | "max" as extreme:
            values = parts.call(span, "transform", rows, _of_row(span, given))
            return parts.call(span, f"array_{extreme}", values)
        case "first_value":
            first = parts.call(span, "get", known, parts.number(span, 0))
            plain = e.Index(span, rows, parts.number(span, 0))
            return _field(first if call.skips else plain, field)
    last = e.Unary(span, "-", parts.number(span, 1))
    name = "try_element_at" if call.skips else "element_at"
    return _field(parts.call(span, name, known if call.skips else rows, last), field)


def _of_row(span: Span, body: e.Expression) -> e.Lambda:
    return e.Lambda(span, (Name(span, ROW),), body)


def _lambda_column(span: Span, field: str) -> e.ColumnRef:
    return e.ColumnRef(span, (Name(span, ROW), Name(span, field)))


def _field(row: e.Expression, field: str) -> e.FieldAccess:
    return e.FieldAccess(row.span, row, Name(row.span, field))


def _sum(call: RowsCall, rows: e.Expression, given: e.Expression) -> e.Expression:
    """Return the sum of what is known, NULL of nothing."""
    span, type_ = call.span, _total_type(call)
    total = e.ColumnRef(span, (Name(span, "so_far"),))
    body = _added(span, total, given, type_)
    function = e.Lambda(span, (Name(span, "so_far"), Name(span, ROW)), body)
    nothing = parts.cast(e.NullLiteral(span), type_)
    return parts.call(span, "aggregate", rows, nothing, function)


def _total_type(call: RowsCall) -> t.Type:
    """Return the type of a running total: AVG adds whole numbers up as a DOUBLE, as Spark does."""
    is_exact = isinstance(call.summed, t.Decimal | t.IntervalType)
    return t.DOUBLE if call.function == "avg" and not is_exact else call.summed


def _added(span: Span, total: e.Expression, given: e.Expression, type_: t.Type) -> e.Expression:
    both = e.Binary(span, "+", total, given)
    sum_ = parts.call(span, "coalesce", both, given, total)
    # The sum of two decimals has a digit more than either; all else stays what the total is.
    return parts.cast(sum_, type_) if isinstance(type_, t.Decimal) else sum_


def _mean(call: RowsCall, total: e.Expression, count: e.Expression) -> e.Expression:
    if isinstance(call.type, t.Decimal):
        count = parts.cast(count, t.Decimal(20, 0))
    mean = e.Binary(call.span, "/", total, count)
    return parts.cast(mean, call.type) if call.type != t.DOUBLE else mean


def running(call: RowsCall) -> Running:
    """Return the cells of an aggregate over all rows so far, and how its value is read."""
    span, name = call.span, call.name
    match call.function:
        case "avg":
            total = _value_cell(f"{name}__sum", _total_type(call))
            count = _counter(f"{name}__count", span)
            counted = parts.cell(span, count.name)
            # Nothing has been added up before anything is counted: no division by zero.
            mean = _mean(call, parts.cell(span, total.name), counted)
            return Running((total, count), Typed(mean, call.type))
        case "count":
            return _read(call, _counter(name, span))
        case "first_value" if not call.skips:
            held = t.Struct((t.Field("value", call.type),))
            first = _value_cell(f"{name}__first", held)
            return Running((first,), Typed(parts.cell(span, first.name, "value"), call.type))
    return _read(call, _value_cell(name, call.type))


def _value_cell(name: str, type_: t.Type, default: Typed | None = None) -> Cell:
    return Cell(name, CellKind.VALUE, type_, default)


def _counter(name: str, span: Span) -> Cell:
    none = Typed(parts.cast(parts.number(span, 0), t.BIGINT), t.BIGINT, nullable=False)
    return _value_cell(name, t.BIGINT, none)


def _read(call: RowsCall, cell: Cell) -> Running:
    return Running((cell,), Typed(parts.cell(call.span, cell.name), call.type, call.nullable))


def advanced(
    call: RowsCall, cells: tuple[Cell, ...], given: e.Expression | None
) -> tuple[ProgramStatement, ...]:
    """Return what a row does to a running aggregate; ``given`` is its argument, None of COUNT(*).

    ``cells`` are those of ``running``, under the names that they have got.
    """
    span = call.span
    here = parts.cell(span, cells[0].name)
    match call.function:
        case "avg":
            assert given is not None
            total = _added(span, here, given, cells[0].type)
            return (_set(cells[0], total), _count(call, cells[1], given))
        case "count":
            return (_count(call, cells[0], given),)
    assert given is not None
    match call.function:
        case "sum":
            return (_set(cells[0], _added(span, here, given, cells[0].type)),)
        case "min":
            return (_set(cells[0], parts.call(span, "least", here, given)),)
        case "max":
            return (_set(cells[0], parts.call(span, "greatest", here, given)),)
        case "first_value":
            if not call.skips:
                given = parts.struct(span, [("value", Typed(given, call.type))]).expression
            return (_set(cells[0], parts.call(span, "coalesce", here, given)),)
    if call.skips:
        given = parts.call(span, "coalesce", given, here)
    return (_set(cells[0], given),)


def _set(cell: Cell, value: e.Expression) -> SetCell:
    return SetCell(cell.name, Typed(value, cell.type))


def _count(call: RowsCall, cell: Cell, given: e.Expression | None) -> SetCell:
    span = call.span
    one: e.Expression = parts.number(span, 1)
    if given is not None and (call.value is None or call.value.nullable):
        counts = e.When(span, parts.is_known(given), one)
        one = e.Case(span, None, (counts,), parts.number(span, 0))
    return _set(cell, e.Binary(span, "+", parts.cell(span, cell.name), one))
