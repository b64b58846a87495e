"""A program as text: its inputs, state and timers, a line for each statement of its handlers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....dsl.format import sql
from ....dsl.reports.diagnostics import InternalError
from ...model.programs import (
    Add,
    Append,
    Cell,
    Clear,
    ClearState,
    Declare,
    Emit,
    For,
    If,
    Operator,
    Panes,
    ProgramInput,
    ProgramStatement,
    Put,
    Remove,
    SetCell,
    SetLocal,
    StartTimer,
    StopTimer,
    While,
)
from ...model.typed import Typed


def operator_lines(step: Operator) -> Iterator[str]:
    """Yield the lines of an operator."""
    yield f"operator {step.id}{' in event-time order' if step.ordered else ''}"
    for key in step.keys:
        yield f"  key {key.name} {key.type}"
    for given in step.inputs:
        yield f"  {_input(given)}"
    if step.panes is not None:
        yield f"  panes{_panes(step.panes)}"
    if step.late_rows is not None:
        yield f"  late rows to {step.late_rows}"
    for cell in step.cells:
        yield f"  {_cell(cell)}"
    for timer in step.timers:
        yield f"  timer {timer.name} {'processing' if timer.processing else 'event'} time"
    for line in handler_lines(step):
        yield f"  {line}"


def handler_lines(step: Operator) -> Iterator[str]:
    """Yield the lines of an operator's handlers."""
    if step.python is not None:
        yield f"python {step.python}"
    for handler in step.handlers:
        yield f"on {'timer' if handler.is_timer else 'event'} {handler.name}"
        yield from _indented(handler.body, "  ")


def _input(given: ProgramInput) -> str:
    keys = ", ".join(sql(key.expression) for key in given.keys)
    by = f" by {keys}" if keys else ""
    if given.until is not None:
        by += f" until {sql(given.until.expression)}"
    return f"{given.relation} as {given.alias}{by} at {given.event_time}"


def _panes(panes: Panes) -> str:
    early = f", early every {panes.early}" if panes.early is not None else ""
    late = f", late for {panes.lateness}" if panes.lateness is not None else ""
    return f"{early}{late}".removeprefix(",")


def _cell(cell: Cell) -> str:
    default = "" if cell.default is None else f" = {sql(cell.default.expression)}"
    ttl = "" if cell.ttl is None else f" for {cell.ttl}"
    return f"{cell.kind} {cell.name} {cell.type}{default}{ttl}"


def _indented(body: Iterable[ProgramStatement], indent: str) -> Iterator[str]:
    for statement in body:
        for line in statement_lines(statement):
            yield f"{indent}{line}"


def statement_lines(statement: ProgramStatement) -> Iterator[str]:
    """Yield a statement, with blocks indented."""
    match statement:
        case If(branches, otherwise):
            word = "if"
            for branch in branches:
                yield f"{word} {_sql(branch.condition)}"
                yield from _indented(branch.body, "  ")
                word = "else if"
            if otherwise:
                yield "else"
                yield from _indented(otherwise, "  ")
        case While(condition, body):
            yield f"while {_sql(condition)}"
            yield from _indented(body, "  ")
        case For(variable, type_, values, body):
            yield f"for {variable} {type_} in {_sql(values)}"
            yield from _indented(body, "  ")
        case _:
            yield _line(statement)


def _line(statement: ProgramStatement) -> str:
    match statement:
        case SetCell(name, value):
            return f"set {name} = {_sql(value)}"
        case SetLocal(name, value):
            return f"set local {name} = {_sql(value)}"
        case Declare(name, value):
            return f"declare {name} {value.type} = {_sql(value)}"
        case Put(cell, key, value):
            return f"put {cell}[{_sql(key)}] = {_sql(value)}"
        case Remove(cell, key):
            return f"remove {_sql(key)} from {cell}"
        case Add(cell, value):
            return f"add {_sql(value)} to {cell}"
        case Append(cell, value):
            return f"append {_sql(value)} to {cell}"
        case Clear(cell):
            return f"clear {cell}"
        case ClearState():
            return "clear state"
        case StartTimer(timer, at):
            return f"start timer {timer} at {_sql(at)}"
        case StopTimer(timer):
            return f"stop timer {timer}"
        case Emit(values):
            return f"emit {', '.join(map(_sql, values))}"
    raise InternalError(f"no text for {type(statement).__name__}")


def _sql(value: Typed) -> str:
    return sql(value.expression)
