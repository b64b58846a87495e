"""Reads of state in the expressions of a program: entries of maps, elements of sets, sizes.

Calls and indexes that may read one entry are wrapped before anything is resolved, and decided once
their operand is known. ``now()`` is resolved last, after functions are inlined.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name, Node
from ....dsl.ast.types import SimpleType
from ....dsl.ast.walk import rewrite
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types as t
from ...model.coercion import can_cast
from ...model.programs import Cell, CellKind, ProgramInput
from ...model.reads import CellRef, ContainsCall, EntryRef, NowCall, SizeCall, WatermarkCall
from ...model.typed import Typed
from ..clauses.lost_times import time_help_of_any
from ..expressions.call_diagnostics import counted
from ..expressions.conversions import converted_to
from ..expressions.resolve import Clause, check
from ..expressions.typing import Context, typed, unknown
from .scope import ProgramScope

PROGRAM = Clause("a program")
"""The clause of all expressions of a program."""

_ENTRY = frozenset({"element_at", "try_element_at"})
_CONTAINS = frozenset({"contains", "array_contains", "map_contains_key"})
_SIZE = frozenset({"size", "cardinality", "array_size"})
_READS = _ENTRY | _CONTAINS | _SIZE | {"watermark"}
_CLOCK = frozenset({"now", "current_timestamp"})
_TODAY = frozenset({"current_date", "curdate"})


@dataclass(frozen=True, slots=True)
class MaybeRead(e.Expression):
    """An index or a call that may read state."""

    node: e.Index | e.Call


def checked(node: e.Expression, scope: ProgramScope, diagnostics: Diagnostics) -> Typed:
    """Return a resolved expression of a program, UNKNOWN once a mistake is reported."""
    value = check(rewrite(node, _wrapped), scope, PROGRAM, diagnostics)
    return clocked(value)


def clocked(value: Typed) -> Typed:
    """Return a resolved expression that reads the clock as programs do, row by row."""
    return Typed(rewrite(value.expression, _clock), value.type, value.nullable)


def _wrapped(node: Node) -> Node | None:
    match node:
        case e.Index(span, operand, index):
            inner = e.Index(span, rewrite(operand, _wrapped), rewrite(index, _wrapped))
            return MaybeRead(span, inner)
        case e.Call(span, name, arguments) if _is_read(node):
            found = tuple(rewrite(argument, _wrapped) for argument in arguments)
            return MaybeRead(span, e.Call(span, name, found))
    return None


def _is_read(node: e.Call) -> bool:
    plain = node.over is None and not node.distinct and node.filter is None and not node.order_by
    return plain and node.name.text.lower() in _READS


def _clock(node: Node) -> Node | None:
    if isinstance(node, e.Call) and not node.arguments:
        name = node.name.text.lower()
        now = NowCall(node.span, Name(node.name.span, "now"), ())
        if name in _CLOCK:
            return now
        if name in _TODAY:
            return e.Cast(node.span, now, SimpleType(node.span, "DATE"))
        if name == "localtimestamp":
            return e.Cast(node.span, now, SimpleType(node.span, "TIMESTAMP_NTZ"))
        if name == "unix_timestamp":
            return e.Call(node.span, node.name, (now,))
    return None


@typed.register(MaybeRead)
def _typed_read(wrapped: MaybeRead, context: Context) -> Typed:
    node = wrapped.node
    first = node.operand if isinstance(node, e.Index) else (*node.arguments, None)[0]
    if not isinstance(first, e.ColumnRef) and not _is_watermark(node):
        # No cell: each operand is resolved once, however deep it is.
        return typed(node, context)
    if isinstance(node, e.Index):
        operand = typed(node.operand, context)
        cell = _collection(operand, context)
        if cell is None or cell.kind is not CellKind.MAP:
            return typed(node, context)
        return _entry(node, operand, node.index, context)
    if _is_watermark(node):
        return _watermark(node, context)
    name = node.name.text.lower()
    if name in _SIZE and len(node.arguments) == 1:
        return _size(node, context)
    if name in _CONTAINS and len(node.arguments) == 2:
        return _contains(node, context)
    if name in _ENTRY and len(node.arguments) == 2:
        operand = typed(node.arguments[0], context)
        cell = _collection(operand, context)
        if cell is not None and cell.kind is CellKind.MAP:
            return _entry(node, operand, node.arguments[1], context)
    return typed(node, context)


def _is_watermark(node: e.Expression) -> bool:
    return isinstance(node, e.Call) and node.name.text.lower() == "watermark"


def _collection(value: Typed, context: Context) -> Cell | None:
    """Return the map, set or list that a resolved expression reads whole."""
    found = value.expression
    if not isinstance(found, CellRef) or len(found.parts) > 1:
        return None
    assert isinstance(context.scope, ProgramScope)
    cell = context.scope.names.cells[found.parts[0].text.lower()]
    return cell if cell.kind is not CellKind.VALUE else None


def _entry(node: e.Expression, operand: Typed, written: e.Expression, context: Context) -> Typed:
    assert isinstance(operand.type, t.Map)
    key = _key(operand, operand.type.key, written, context)
    return Typed(EntryRef(node.span, operand.expression, key), operand.type.value)


def _key(operand: Typed, type_: t.Type, written: e.Expression, context: Context) -> e.Expression:
    """Return the key of an entry, converted to the cell's type."""
    value = typed(written, context)
    found = converted_to(value, type_, context)
    if found is None:
        context.report(_bad_key(operand, type_, written, value, context))
    return (found or value).expression


def _contains(node: e.Call, context: Context) -> Typed:
    operand = typed(node.arguments[0], context)
    cell = _collection(operand, context)
    if cell is not None and cell.kind is not CellKind.LIST:
        key = _key(operand, cell.entry, node.arguments[1], context)
        name = Name(node.name.span, "contains")
        call = ContainsCall(node.span, name, (operand.expression, key))
        return Typed(call, t.BOOLEAN, nullable=False)
    names: dict[type[t.Type], str] = {t.Array: "array_contains", t.Map: "map_contains_key"}
    instead = names.get(type(operand.type))
    if instead is None or node.name.text.lower() != "contains":
        return typed(node, context)
    return typed(e.Call(node.span, Name(node.name.span, instead), node.arguments), context)


def _size(node: e.Call, context: Context) -> Typed:
    operand = typed(node.arguments[0], context)
    if _collection(operand, context) is None:
        return typed(node, context)
    call = SizeCall(node.span, Name(node.name.span, "size"), (operand.expression,))
    return Typed(call, t.INT, nullable=False)


def _watermark(node: e.Call, context: Context) -> Typed:
    assert isinstance(context.scope, ProgramScope)
    if node.arguments:
        context.report(_no_arguments(node))
        return unknown(node)
    if not context.scope.names.has_event_time:
        context.report(_no_watermark(node, context.scope.names.inputs))
    return Typed(WatermarkCall(node.span, Name(node.name.span, "watermark"), ()), t.TIMESTAMP)


def _bad_key(
    operand: Typed, wanted: t.Type, written: e.Expression, value: Typed, context: Context
) -> Diagnostic:
    text = context.text(written)
    assert isinstance(operand.expression, CellRef)
    return Diagnostic(
        codes.ASSIGNED_TYPE,
        f"`{operand.expression.parts[0]}` is indexed by {wanted}, but `{text}` is {value.type}",
        Label(written.span, str(value.type)),
        help=f"write `CAST({text} AS {wanted})`"
        if can_cast(value.type, wanted)
        else f"give it a value of type {wanted}",
    )


def _no_arguments(node: e.Call) -> Diagnostic:
    return Diagnostic(
        codes.ARGUMENT_COUNT,
        f"`watermark` takes {counted(0, 0)}, not {len(node.arguments)}",
        Label(node.span),
        help="write `watermark()`: it applies to all inputs",
    )


def _no_watermark(node: e.Call, inputs: Iterable[ProgramInput]) -> Diagnostic:
    add = "add `WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE` to a source that it reads"
    return Diagnostic(
        codes.MISSING_WATERMARK,
        "no input of the operator has a watermark",
        Label(node.span, "always NULL"),
        help=time_help_of_any((given.schema for given in inputs), add),
    )
