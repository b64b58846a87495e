"""Programs run in plain Python: rows of each key in event-time order, timers, statements.

An interpreter of its own, so that programs that queries become can be tried without Spark. It knows
the expressions that such programs are made of, with NULL as Spark has it.
"""

from __future__ import annotations

import math
import operator as op
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from streamc.compiler.model import programs as m
from streamc.compiler.model.intervals import interval_micros
from streamc.dsl.ast import expressions as e
from streamc.dsl.ast.types import SimpleType

Row = dict[str, Any]
Names = dict[str, Any]

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{"=": op.eq, "<>": op.ne, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge},
    **{"+": op.add, "-": op.sub, "*": op.mul, "/": op.truediv, "%": math.fmod},
    **{"&": op.and_, "|": op.or_, "^": op.xor},
}


def value(node: e.Expression, names: Names) -> Any:
    """Return what an expression is; columns, cells, locals, keys and the instant are names."""
    match node:
        case e.ColumnRef(_, parts):
            return _path(names, [part.text for part in parts])
        case e.NullLiteral():
            return None
        case e.BooleanLiteral(_, found):
            return found
        case e.NumberLiteral(_, text):
            return _number(text)
        case e.StringLiteral(_, text):
            return text
        case e.Interval():
            micros = interval_micros(node)
            assert micros is not None
            return timedelta(microseconds=micros)
        case e.Cast(_, inner, type_):
            found = value(inner, names)
            name = type_.name if isinstance(type_, SimpleType) else ""
            cast = {"DOUBLE": float, "STRING": str}.get(name)
            return found if cast is None or found is None else cast(found)
        case e.Unary(_, "NOT", inner):
            found = value(inner, names)
            return None if found is None else not found
        case e.Unary(_, "-", inner):
            found = value(inner, names)
            return None if found is None else -found
        case e.Binary(_, "AND" | "OR" as word, left, right):
            return _logical(word, left, right, names)
        case e.Binary(_, sign, left, right):
            a, b = _alike(value(left, names), value(right, names))
            return None if a is None or b is None else _BINARY[sign](a, b)
        case e.IsTest(_, inner, "NULL", negated):
            return (value(inner, names) is None) != negated
        case e.IsDistinct(_, left, right, negated):
            return (value(left, names) != value(right, names)) != negated
        case e.InList(_, inner, items, negated):
            found = value(inner, names)
            if found is None:
                return None
            return (found in [value(item, names) for item in items]) != negated
        case e.Case(_, None, whens, otherwise):
            for when in whens:
                if value(when.condition, names) is True:
                    return value(when.result, names)
            return None if otherwise is None else value(otherwise, names)
        case e.Index(_, inner, index):
            return value(inner, names)[value(index, names)]
        case e.FieldAccess(_, inner, field):
            found = value(inner, names)
            return None if found is None else found[field.text]
        case e.Call(_, name, arguments):
            return _call(name.text.lower(), arguments, names)
    raise AssertionError(node)


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two values as a common type: a DECIMAL with a DOUBLE becomes one."""
    if {type(a), type(b)} == {Decimal, float}:
        return float(a), float(b)
    return a, b


def _number(text: str) -> Any:
    if text.endswith("D"):
        return float(text.removesuffix("D"))
    whole = text.removesuffix("L")
    return int(whole) if whole.isdigit() else Decimal(text)


def _path(names: Names, parts: list[str]) -> Any:
    found = names[parts[0]]
    for part in parts[1:]:
        found = None if found is None else found[part]
    return found


def _logical(word: str, left: e.Expression, right: e.Expression, names: Names) -> Any:
    ends = word == "OR"
    first = value(left, names)
    if first is ends:
        return ends
    second = value(right, names)
    if second is ends:
        return ends
    return None if first is None or second is None else not ends


def _call(name: str, arguments: tuple[e.Expression, ...], names: Names) -> Any:
    if isinstance(arguments[-1] if arguments else None, e.Lambda):
        return _over_items(name, arguments, names)
    found = [value(argument, names) for argument in arguments]
    known = [one for one in found if one is not None]
    match name:
        case "array":
            return found
        case "array_append":
            return None if found[0] is None else [*found[0], found[1]]
        case "coalesce":
            return next(iter(known), None)
        case "named_struct":
            return dict(zip(found[::2], found[1::2], strict=True))
        case "struct":
            return dict(zip(_fields(arguments), found, strict=True))
        case "least":
            return min(known, default=None)
        case "greatest":
            return max(known, default=None)
        case "nullif":
            return None if found[0] == found[1] else found[0]
        case "size":
            return None if found[0] is None else len(found[0])
        case "concat":
            return None if None in found else [item for part in found for item in part]
        case "array_min" | "array_max":
            items = [item for item in found[0] if item is not None]
            return (min if name == "array_min" else max)(items, key=_order, default=None)
        case "get" | "element_at" | "try_element_at" if None in found:
            return None
        case "get" | "element_at" | "try_element_at":
            place = found[1] if name == "get" or found[1] < 0 else found[1] - 1
            assert name != "element_at" or len(found[0]) >= abs(place)
            is_there = -len(found[0]) <= place < len(found[0]) and (name != "get" or place >= 0)
            return found[0][place] if is_there else None
    return _plain_call(name, found)


def _fields(arguments: tuple[e.Expression, ...]) -> list[str]:
    return [
        one.parts[-1].text if isinstance(one, e.ColumnRef) else f"col{place}"
        for place, one in enumerate(arguments, start=1)
    ]


def _plain_call(name: str, found: list[Any]) -> Any:
    """Return the result of a function that is NULL for NULL."""
    if found[0] is None:
        return None
    match name:
        case "array_sort" | "sort_array":
            return sorted(found[0], key=_order)
        case "array_distinct":
            return list({_order(one): one for one in reversed(found[0])}.values())
        case "array_join":
            return found[1].join(one for one in found[0] if one is not None)
        case "floor" | "ceil" | "sqrt" | "length":
            functions = {"floor": math.floor, "ceil": math.ceil, "sqrt": math.sqrt, "length": len}
            return functions[name](found[0])
        case "sequence":
            return list(range(found[0], found[1] + 1, found[2]))
        case "pmod":
            return found[0] % found[1]
        case "try_divide":
            return None if None in found or not found[1] else found[0] / found[1]
    raise AssertionError(name)


def _order(one: Any) -> Any:
    """Return what values are ordered by, NULL first, structs by their fields."""
    fields = list(one.values()) if isinstance(one, dict) else [one]
    return tuple((field is not None, field) for field in fields)


def _over_items(name: str, arguments: tuple[e.Expression, ...], names: Names) -> Any:
    """Return the result of a higher-order function over a list."""
    items, fn = value(arguments[0], names), arguments[-1]
    if items is None:
        return None
    match name:
        case "filter":
            return [one for place, one in enumerate(items) if _applied(fn, names, one, place)]
        case "exists":
            return any(_applied(fn, names, one) is True for one in items)
        case "transform":
            return [_applied(fn, names, one) for one in items]
        case "aggregate":
            found = value(arguments[1], names)
            for one in items:
                found = _applied(arguments[2], names, found, one)
            return found if len(arguments) == 3 else _applied(fn, names, found)
    raise AssertionError(name)


def _applied(fn: e.Expression, names: Names, *values: Any) -> Any:
    """Return the result of a lambda."""
    assert isinstance(fn, e.Lambda)
    given = [parameter.text for parameter in fn.parameters]
    return value(fn.body, {**names, **dict(zip(given, values, strict=False))})


_USED: dict[int, tuple[m.Operator, dict[str, tuple[str, ...]]]] = {}
"""What `columns_used` says of each input, by the identity of its operator, which is kept alive."""


def _used(operator: m.Operator, given: m.ProgramInput) -> tuple[str, ...]:
    """Return the columns that are used; to find them takes longer than to handle a row."""
    if id(operator) not in _USED:
        found = {one.alias: m.columns_used(operator, one) for one in operator.inputs}
        _USED[id(operator)] = (operator, found)
    return _USED[id(operator)][1][given.alias]


def _empty(cell: m.Cell) -> Any:
    if cell.kind is not m.CellKind.VALUE:
        return []
    return None if cell.default is None else value(cell.default.expression, {})


class Program:
    """An operator with the state of one key."""

    def __init__(self, operator: m.Operator, key: Row) -> None:
        self.operator = operator
        self.key = key
        self.out: list[Row] = []
        self.timers: dict[str, datetime] = {}
        self.cells: Names = {}
        self._clear()

    def _clear(self) -> None:
        self.cells = {cell.name: _empty(cell) for cell in self.operator.cells}

    @property
    def is_empty(self) -> bool:
        """Whether the key has no state left."""
        kept = dict(self.cells)
        self._clear()
        fresh, self.cells = self.cells, kept
        return fresh == kept and not self.timers

    def row(self, alias: str, row: Row) -> None:
        """Handle a row, after the timers of earlier instants."""
        given = next(one for one in self.operator.inputs if one.alias == alias)
        assert given.event_time is not None
        self.advance(row[given.event_time], before=True)
        used = _used(self.operator, given)
        self._handle(alias, {**{name: row[name] for name in used}, alias: row})

    def advance(self, to: datetime, *, before: bool = False) -> None:
        """Fire timers up to an instant, or before it."""
        while self.timers:
            at, name = min((at, name) for name, at in self.timers.items())
            if at > to or (before and at == to):
                return
            del self.timers[name]
            self._handle(name, {name: at})

    def _handle(self, name: str, names: Names) -> None:
        handler = next(one for one in self.operator.handlers if one.name == name)
        self._body(handler.body, [{**self.key, **names}])

    def _names(self, blocks: list[Names]) -> Names:
        """Return what names mean: a cell comes before a column, a local before both."""
        first, *others = blocks
        found = {**first, **self.cells}
        for block in others:
            found |= block
        return found

    def _body(self, body: Iterable[m.ProgramStatement], blocks: list[Names]) -> None:
        blocks = [*blocks, {}]
        for statement in body:
            self._statement(statement, blocks)

    def _statement(self, statement: m.ProgramStatement, blocks: list[Names]) -> None:
        def read(expression: e.Expression) -> Any:
            return value(expression, self._names(blocks))

        match statement:
            case m.Declare(name, found):
                blocks[-1][name] = read(found.expression)
            case m.SetLocal(name, found):
                block = next(one for one in reversed(blocks) if name in one)
                block[name] = read(found.expression)
            case m.SetCell(name, found):
                self.cells[name] = read(found.expression)
            case m.Append(name, found):
                self.cells[name] = [*self.cells[name], read(found.expression)]
            case m.Add(name, found):
                once = {_order(one): one for one in (*self.cells[name], read(found.expression))}
                self.cells[name] = [one for _, one in sorted(once.items())]
            case m.Clear(name):
                kept = dict(self.cells)
                self._clear()
                self.cells = {**kept, name: self.cells[name]}
            case m.ClearState():
                self._clear()
            case m.StartTimer(name, at):
                self.timers[name] = read(at.expression)
            case m.StopTimer(name):
                self.timers.pop(name, None)
            case m.For(variable, _, values, body):
                for item in read(values.expression):
                    self._body(body, [*blocks, {variable: item}])
            case m.If(branches, otherwise):
                for branch in branches:
                    if read(branch.condition.expression) is True:
                        self._body(branch.body, blocks)
                        return
                self._body(otherwise, blocks)
            case m.Emit(values):
                names = self.operator.returns.names()
                found = (read(one.expression) for one in values)
                self.out.append(dict(zip(names, found, strict=True)))
            case _:
                raise AssertionError(statement)


def clears_all(handler: m.Handler) -> bool:
    """Return whether a timer ends all state of its key."""
    return handler.is_timer and m.ClearState() in handler.body


def run(operator: m.Operator, rows: dict[str, list[Row]], end: datetime) -> list[Row]:
    """Return what an operator gives for whole inputs, by their aliases, to the end of time.

    Rows of an instant are in the order of the inputs, then of their values, NULL first.
    """
    programs: dict[tuple[Any, ...], Program] = {}
    waiting: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
    for place, given in enumerate(operator.inputs):
        used = _used(operator, given)
        for number, row in enumerate(rows[given.alias]):
            key = tuple(value(one.expression, row) for one in given.keys)
            order = [(row[name] is not None, row[name]) for name in used]
            waiting[key].append((row[given.event_time or ""], place, order, number, row))
    for key, found in waiting.items():
        named = {one.name: part for one, part in zip(operator.keys, key, strict=True)}
        program = programs[key] = Program(operator, named)
        for _, place, _, _, row in sorted(found, key=lambda one: one[:4]):
            program.row(operator.inputs[place].alias, row)
        program.advance(end)
        if not operator.timers or not any(clears_all(one) for one in operator.handlers):
            continue
        assert program.is_empty, (program.cells, program.timers)
    return [row for program in programs.values() for row in program.out]
