"""CREATE OPERATOR as lines of text: a statement a line, blocks moved to the right."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from ..ast.programs import (
    AddStatement,
    AppendStatement,
    ClearStatement,
    DeclareStatement,
    EmitStatement,
    ForStatement,
    Handler,
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
from ..ast.statements import CreateOperator, OperatorInput, Parameter, StateCell
from ..diagnostics import InternalError
from .expressions import as_operand, as_written
from .layout import WIDTH, bracketed, indented
from .queries import late_rows_text
from .types import type_sql
from .words import identifier, string

_ROOM = WIDTH - 2
_BEGIN_STATEMENTS = frozenset(
    "SET DECLARE IF WHILE FOR PUT REMOVE ADD APPEND CLEAR START STOP EMIT END".split()
)
"""Words behind ON EVENT that begin its first statement, and so cannot name its input."""


def operator_lines(operator: CreateOperator) -> list[str]:
    """Return the lines of CREATE OPERATOR without its semicolon."""
    inputs = ", ".join(map(_input, operator.inputs))
    lines = [f"CREATE OPERATOR {identifier(operator.name.text)} ON {inputs}"]
    lines += indented(_sections(operator))
    lines.append("AS")
    for handler in operator.handlers:
        lines += _handler(handler)
    return [*lines, "END"]


def parameter_text(parameter: Parameter) -> str:
    """Return ``name TYPE``."""
    return f"{identifier(parameter.name.text)} {type_sql(parameter.type)}"


def _input(node: OperatorInput) -> str:
    text = identifier(node.stream.text)
    if node.alias:
        text += f" AS {identifier(node.alias.text)}"
    if node.partition_by:
        text += f" PARTITION BY {', '.join(map(as_operand, node.partition_by))}"
    return f"{text} ORDER BY {as_operand(node.order_by)}" if node.order_by else text


def _sections(operator: CreateOperator) -> Iterator[str]:
    if operator.late_rows:
        yield late_rows_text(operator.late_rows)
    if operator.state:
        yield from bracketed("STATE ", [_cell(cell) for cell in operator.state], room=_ROOM)
    if operator.ttl:
        items = [f"{identifier(t.cell.text)} {as_written(t.duration)}" for t in operator.ttl]
        yield from bracketed("TTL ", items, room=_ROOM)
    if operator.timers:
        items = [f"{identifier(t.name.text)} {t.domain} TIME" for t in operator.timers]
        yield from bracketed("TIMERS ", items, room=_ROOM)
    yield from bracketed("RETURNS ", [parameter_text(p) for p in operator.returns], room=_ROOM)


def _cell(cell: StateCell) -> str:
    text = f"{identifier(cell.name.text)} {type_sql(cell.type)}"
    return f"{text} DEFAULT {as_written(cell.default)}" if cell.default is not None else text


def _handler(handler: Handler) -> list[str]:
    name = f" {identifier(handler.name.text, _BEGIN_STATEMENTS)}" if handler.name else ""
    head = f"ON {handler.kind}{name}"
    if handler.python is not None:
        return [f"{head} USING PYTHON {string(handler.python)};"]
    return [head, *_block(handler.body)]


def _block(body: tuple[ProgramStatement, ...]) -> list[str]:
    return indented(line for statement in body for line in _lines(statement))


@singledispatch
def _lines(statement: ProgramStatement) -> list[str]:
    raise InternalError(f"no text for {type(statement).__name__}")


@_lines.register
def _set(node: SetStatement) -> list[str]:
    return [f"SET {identifier(node.target.text)} = {as_written(node.value)};"]


@_lines.register
def _declare(node: DeclareStatement) -> list[str]:
    value = f" = {as_written(node.value)}" if node.value is not None else ""
    return [f"DECLARE {identifier(node.name.text)} {type_sql(node.type)}{value};"]


@_lines.register
def _if(node: IfStatement) -> list[str]:
    lines: list[str] = []
    for branch in node.branches:
        word = "ELSEIF" if lines else "IF"
        lines += [f"{word} {as_written(branch.condition)} THEN", *_block(branch.body)]
    if node.otherwise:
        lines += ["ELSE", *_block(node.otherwise)]
    return [*lines, "END IF;"]


@_lines.register
def _while(node: WhileStatement) -> list[str]:
    return [f"WHILE {as_written(node.condition)} DO", *_block(node.body), "END WHILE;"]


@_lines.register
def _for(node: ForStatement) -> list[str]:
    head = f"FOR {identifier(node.variable.text)} IN {as_written(node.values)} DO"
    return [head, *_block(node.body), "END FOR;"]


@_lines.register
def _put(node: PutStatement) -> list[str]:
    entry = f"{identifier(node.target.text)}[{as_operand(node.key)}]"
    return [f"PUT {entry} = {as_written(node.value)};"]


@_lines.register
def _remove_key(node: RemoveKeyStatement) -> list[str]:
    return [f"REMOVE {identifier(node.target.text)}[{as_operand(node.key)}];"]


@_lines.register
def _add(node: AddStatement) -> list[str]:
    return [f"ADD {as_written(node.value)} TO {identifier(node.target.text)};"]


@_lines.register
def _remove(node: RemoveStatement) -> list[str]:
    return [f"REMOVE {as_written(node.value)} FROM {identifier(node.target.text)};"]


@_lines.register
def _append(node: AppendStatement) -> list[str]:
    return [f"APPEND {as_written(node.value)} TO {identifier(node.target.text)};"]


@_lines.register
def _clear(node: ClearStatement) -> list[str]:
    return [f"CLEAR {identifier(node.target.text) if node.target else 'STATE'};"]


@_lines.register
def _start_timer(node: StartTimerStatement) -> list[str]:
    return [f"START TIMER {identifier(node.timer.text)} AT {as_written(node.at)};"]


@_lines.register
def _stop_timer(node: StopTimerStatement) -> list[str]:
    return [f"STOP TIMER {identifier(node.timer.text)};"]


@_lines.register
def _emit(node: EmitStatement) -> list[str]:
    return [f"EMIT {', '.join(map(as_written, node.values))};"]
