"""The statements of a handler, one function per kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import programs as p
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, InternalError, Label
from ...model import programs as m
from ...model import types as t
from ...model.programs import CellKind
from ...model.schema import Schema
from ...model.typed import Typed
from ..expressions.conversions import written
from ..expressions.typing import Context, require_boolean
from .reads import PROGRAM, checked
from .scope import ProgramScope
from .targets import cell_for, settable, timer_of
from .values import fitted


@dataclass(frozen=True, slots=True)
class Place:
    """The context of a statement: the meaning of its names, and the columns of RETURNS."""

    scope: ProgramScope
    returns: Schema
    diagnostics: Diagnostics

    def value(self, node: e.Expression) -> Typed:
        """Return a resolved expression."""
        return checked(node, self.scope, self.diagnostics)

    def put(self, node: e.Expression, type_: t.Type, where: str) -> Typed:
        """Return an expression converted for its target."""
        return fitted(self.value(node), node, type_, where, self.scope, self.diagnostics)

    def condition(self, node: e.Expression, where: str) -> Typed:
        """Return a condition, reported if it is not one."""
        value = self.value(node)
        context = Context(self.scope, PROGRAM, self.diagnostics)
        require_boolean(value, node, context, where)
        return value


def resolve_body(
    body: Sequence[p.ProgramStatement], place: Place
) -> tuple[m.ProgramStatement, ...]:
    """Return the statements of a block, without those with mistakes, which are reported."""
    place.scope.blocks.append({})
    found = [resolved(statement, place) for statement in body]
    place.scope.blocks.pop()
    return tuple(statement for statement in found if statement is not None)


@singledispatch
def resolved(node: p.ProgramStatement, place: Place) -> m.ProgramStatement | None:
    """Return a statement with its names resolved, None after a report."""
    raise InternalError(f"no rule for {type(node).__name__}")


@resolved.register
def _set(node: p.SetStatement, place: Place) -> m.ProgramStatement | None:
    local = place.scope.local(node.target.text)
    if local is not None:
        value = place.put(node.value, local.type, f"local `{local.name}`")
        return m.SetLocal(local.name, value)
    cell = settable(node.target, place.scope, place.diagnostics)
    if cell is None:
        place.value(node.value)
        return None
    return m.SetCell(cell.name, place.put(node.value, cell.type, f"cell `{cell.name}`"))


@resolved.register
def _declare(node: p.DeclareStatement, place: Place) -> m.ProgramStatement | None:
    type_ = t.from_node(node.type, place.diagnostics)
    if node.value is None:
        null = e.NullLiteral(node.span)
        value = Typed(e.Cast(node.span, null, written(type_, node.span)), type_)
    else:
        # The name is visible only from here on: `DECLARE x INT = x` reads no local.
        value = place.put(node.value, type_, f"local `{node.name}`")
    place.scope.declare(node.name, type_)
    return m.Declare(node.name.text, value)


@resolved.register
def _if(node: p.IfStatement, place: Place) -> m.ProgramStatement | None:
    branches = tuple(
        m.IfBranch(place.condition(branch.condition, "`IF`"), resolve_body(branch.body, place))
        for branch in node.branches
    )
    return m.If(branches, resolve_body(node.otherwise, place))


@resolved.register
def _while(node: p.WhileStatement, place: Place) -> m.ProgramStatement | None:
    condition = place.condition(node.condition, "`WHILE`")
    return m.While(condition, resolve_body(node.body, place))


@resolved.register
def _for(node: p.ForStatement, place: Place) -> m.ProgramStatement | None:
    values = place.value(node.values)
    type_: t.Type = t.UNKNOWN
    match values.type:
        case t.Array(element):
            type_ = element
        case _ if not t.is_open(values.type):
            place.diagnostics.add(_no_elements(node, values, place))
    place.scope.blocks.append({})
    place.scope.declare(node.variable, type_)
    body = resolve_body(node.body, place)
    place.scope.blocks.pop()
    return m.For(node.variable.text, type_, values, body)


@resolved.register
def _put(node: p.PutStatement, place: Place) -> m.ProgramStatement | None:
    cell = cell_for(node.target, (CellKind.MAP,), "PUT", place.scope, place.diagnostics)
    if cell is None or not isinstance(cell.type, t.Map):
        place.value(node.key)
        place.value(node.value)
        return None
    key = place.put(node.key, cell.type.key, f"the key of `{cell.name}`")
    return m.Put(cell.name, key, place.put(node.value, cell.type.value, f"`{cell.name}[…]`"))


@resolved.register
def _remove_key(node: p.RemoveKeyStatement, place: Place) -> m.ProgramStatement | None:
    what = "REMOVE …[…]"
    cell = cell_for(node.target, (CellKind.MAP,), what, place.scope, place.diagnostics)
    if cell is None:
        place.value(node.key)
        return None
    return m.Remove(cell.name, place.put(node.key, cell.entry, f"the key of `{cell.name}`"))


@resolved.register
def _remove(node: p.RemoveStatement, place: Place) -> m.ProgramStatement | None:
    kinds = (CellKind.SET,)
    cell = cell_for(node.target, kinds, "REMOVE … FROM", place.scope, place.diagnostics)
    if cell is None:
        place.value(node.value)
        return None
    return m.Remove(cell.name, place.put(node.value, cell.entry, f"an element of `{cell.name}`"))


@resolved.register
def _add(node: p.AddStatement, place: Place) -> m.ProgramStatement | None:
    cell = cell_for(node.target, (CellKind.SET,), "ADD", place.scope, place.diagnostics)
    if cell is None:
        place.value(node.value)
        return None
    return m.Add(cell.name, place.put(node.value, cell.entry, f"an element of `{cell.name}`"))


@resolved.register
def _append(node: p.AppendStatement, place: Place) -> m.ProgramStatement | None:
    cell = cell_for(node.target, (CellKind.LIST,), "APPEND", place.scope, place.diagnostics)
    if cell is None:
        place.value(node.value)
        return None
    return m.Append(cell.name, place.put(node.value, cell.entry, f"an element of `{cell.name}`"))


@resolved.register
def _clear(node: p.ClearStatement, place: Place) -> m.ProgramStatement | None:
    if node.target is None:
        return m.ClearState()
    cell = cell_for(node.target, tuple(CellKind), "CLEAR", place.scope, place.diagnostics)
    return None if cell is None else m.Clear(cell.name)


@resolved.register
def _start(node: p.StartTimerStatement, place: Place) -> m.ProgramStatement | None:
    timer = timer_of(node.timer, place.scope.names, place.diagnostics)
    at = place.put(node.at, t.TIMESTAMP, "the instant of a timer")
    return None if timer is None else m.StartTimer(timer.name, at)


@resolved.register
def _stop(node: p.StopTimerStatement, place: Place) -> m.ProgramStatement | None:
    timer = timer_of(node.timer, place.scope.names, place.diagnostics)
    return None if timer is None else m.StopTimer(timer.name)


@resolved.register
def _emit(node: p.EmitStatement, place: Place) -> m.ProgramStatement | None:
    fields = place.returns.fields
    if len(node.values) != len(fields):
        for value in node.values:
            place.value(value)
        place.diagnostics.add(_count(node, place.returns))
        return None
    pairs = zip(node.values, fields, strict=True)
    values = tuple(
        fitted(
            *(place.value(value), value, field.type, f"column `{field.name}`"),
            *(place.scope, place.diagnostics, codes.EMIT_VALUES),
        )
        for value, field in pairs
    )
    return m.Emit(values)


def _count(node: p.EmitStatement, returns: Schema) -> Diagnostic:
    given, wanted = len(node.values), len(returns.fields)
    listed = ", ".join(f"{field.name} {field.type}" for field in returns)
    return Diagnostic(
        codes.EMIT_VALUES,
        f"EMIT gives {given} value{'' if given == 1 else 's'}, but RETURNS has {wanted} "
        f"column{'' if wanted == 1 else 's'}",
        Label(node.span),
        help=f"give a value for each column, in this order: {listed}",
    )


def _no_elements(node: p.ForStatement, values: Typed, place: Place) -> Diagnostic:
    context = Context(place.scope, PROGRAM, place.diagnostics)
    text = context.text(node.values)
    fix = "give it an ARRAY, a SET or a LIST"
    if isinstance(values.type, t.Map):
        fix = f"write `map_keys({text})`, or `map_entries({text})` for keys and values"
    return Diagnostic(
        codes.LOOP_VALUES,
        f"FOR goes over the elements of an array, `{text}` is {values.type}",
        Label(node.values.span, str(values.type)),
        help=fix,
    )
