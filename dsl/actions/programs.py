"""Actions of ``programs.lark``."""

from __future__ import annotations

from typing import Any

from ..ast.expressions import ColumnRef, Expression, Index, Interval
from ..ast.node import Name
from ..ast.programs import (
    AddStatement,
    AppendStatement,
    ClearStatement,
    DeclareStatement,
    EmitStatement,
    ForStatement,
    Handler,
    IfBranch,
    IfStatement,
    ProgramStatement,
    PutStatement,
    RemoveKeyStatement,
    RemoveStatement,
    SetStatement,
    StartTimerStatement,
    StopTimerStatement,
    WhileStatement,
)
from ..ast.queries import LateRows
from ..ast.statements import (
    CreateOperator,
    OperatorInput,
    Option,
    Parameter,
    StateCell,
    Timer,
    TimeToLive,
)
from ..ast.types import TypeNode
from ..reports.source import Span
from ..syntax.mistakes import not_a_cell, not_a_stream
from ..syntax.spelling import text_of

_Item = tuple[Span, Expression, Name | None, Expression | None, Expression | None]


def create_operator(
    span: Span,
    name: Name,
    options: tuple[Option, ...] | None,
    inputs: tuple[OperatorInput, ...],
    late_rows: LateRows | None,
    state_: tuple[StateCell, ...] | None,
    ttl_: tuple[TimeToLive, ...] | None,
    timers_: tuple[Timer, ...] | None,
    returns: tuple[Parameter, ...],
    handlers_: tuple[Handler, ...],
) -> CreateOperator:
    return CreateOperator(
        *(span, name, options or (), inputs, late_rows),
        *(state_ or (), ttl_ or (), timers_ or (), returns, handlers_),
    )


def operator_inputs(_span: Span, *items: _Item) -> tuple[OperatorInput, ...]:
    """Sort a list of items into inputs and their keys.

    ``a PARTITION BY x, y ORDER BY t, b PARTITION BY z`` has the items ``a PARTITION BY x``,
    ``y ORDER BY t`` and ``b PARTITION BY z``: one without PARTITION BY is a further key of the
    input before it as long as that input has keys and no order yet.
    """
    inputs: list[OperatorInput] = []
    for span, expression, alias, key, order in items:
        last = inputs[-1] if inputs else None
        if key is None and alias is None and last and last.partition_by and not last.order_by:
            keys = (*last.partition_by, expression)
            inputs[-1] = OperatorInput(last.span.to(span), last.stream, last.alias, keys, order)
        else:
            keys = () if key is None else (key,)
            inputs.append(OperatorInput(span, _stream(expression), alias, keys, order))
    return tuple(inputs)


def operator_item(
    span: Span,
    expression: Expression,
    alias: Name | None,
    key: Expression | None,
    order: Expression | None,
) -> _Item:
    return (span, expression, alias, key, order)


def _stream(expression: Expression) -> Name:
    if isinstance(expression, ColumnRef) and len(expression.parts) == 1:
        return expression.parts[0]
    raise not_a_stream(expression.span)


def state(_span: Span, *cells: StateCell) -> tuple[StateCell, ...]:
    return cells


def state_cell(span: Span, name: Name, type_: TypeNode, default: Expression | None) -> StateCell:
    return StateCell(span, name, type_, default)


def ttl(_span: Span, *items: TimeToLive) -> tuple[TimeToLive, ...]:
    return items


def time_to_live(span: Span, cell: Name, duration: Interval) -> TimeToLive:
    return TimeToLive(span, cell, duration)


def timers(_span: Span, *items: Timer) -> tuple[Timer, ...]:
    return items


def timer(span: Span, name: Name, domain: str) -> Timer:
    return Timer(span, name, domain.upper())


def handlers(_span: Span, *items: Handler) -> tuple[Handler, ...]:
    return items


def on_event(span: Span, name: Name | None, body_: tuple[ProgramStatement, ...]) -> Handler:
    return Handler(span, "EVENT", name, body_)


def on_event_python(span: Span, name: Name | None, python: str) -> Handler:
    return Handler(span, "EVENT", name, (), text_of(python))


def on_timer(span: Span, name: Name, body_: tuple[ProgramStatement, ...]) -> Handler:
    return Handler(span, "TIMER", name, body_)


def body(_span: Span, *statements: ProgramStatement) -> tuple[ProgramStatement, ...]:
    return statements


def set_statement(span: Span, target: Name, value: Expression) -> ProgramStatement:
    return SetStatement(span, target, value)


def declare_statement(
    span: Span, name: Name, type_: TypeNode, value: Expression | None
) -> ProgramStatement:
    return DeclareStatement(span, name, type_, value)


def if_statement(span: Span, *rest: Any) -> ProgramStatement:
    *branches, otherwise = rest
    return IfStatement(span, tuple(branches), otherwise or ())


def if_branch(span: Span, condition: Expression, body_: tuple[ProgramStatement, ...]) -> IfBranch:
    return IfBranch(span, condition, body_)


def while_statement(
    span: Span, condition: Expression, body_: tuple[ProgramStatement, ...]
) -> ProgramStatement:
    return WhileStatement(span, condition, body_)


def for_statement(
    span: Span, variable: Name, values: Expression, body_: tuple[ProgramStatement, ...]
) -> ProgramStatement:
    return ForStatement(span, variable, values, body_)


def put_statement(span: Span, entry: Index, value: Expression) -> ProgramStatement:
    return PutStatement(span, _cell(entry), entry.index, value)


def remove_key_statement(span: Span, entry: Index) -> ProgramStatement:
    return RemoveKeyStatement(span, _cell(entry), entry.index)


def _cell(entry: Index) -> Name:
    operand = entry.operand
    if isinstance(operand, ColumnRef) and len(operand.parts) == 1:
        return operand.parts[0]
    raise not_a_cell(operand.span)


def remove_statement(span: Span, value: Expression, target: Name) -> ProgramStatement:
    return RemoveStatement(span, value, target)


def add_statement(span: Span, value: Expression, target: Name) -> ProgramStatement:
    return AddStatement(span, value, target)


def append_statement(span: Span, value: Expression, target: Name) -> ProgramStatement:
    return AppendStatement(span, value, target)


def clear_statement(span: Span, target: Name) -> ProgramStatement:
    return ClearStatement(span, target)


def clear_state_statement(span: Span) -> ProgramStatement:
    return ClearStatement(span, None)


def start_timer_statement(span: Span, timer_: Name, at: Expression) -> ProgramStatement:
    return StartTimerStatement(span, timer_, at)


def stop_timer_statement(span: Span, timer_: Name) -> ProgramStatement:
    return StopTimerStatement(span, timer_)


def emit_statement(span: Span, *values: Expression) -> ProgramStatement:
    return EmitStatement(span, values)
