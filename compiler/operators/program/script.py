"""A keyed program: a call of ``job.operator``, where each statement is a step of ``program``.

Expressions are Spark SQL, each with the type of its target. A step is a line where it fits, and
nested steps follow on lines of their own, so that an edit of a statement is an edit of its lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch

from ....dsl.format import sql
from ....dsl.reports.diagnostics import InternalError
from ...model.programs import (
    Add,
    Append,
    Cell,
    CellKind,
    Clear,
    ClearState,
    Declare,
    DeclareRolled,
    Emit,
    For,
    Handler,
    If,
    KeepRows,
    Operator,
    ProgramInput,
    ProgramStatement,
    Put,
    Remove,
    SetCell,
    SetLocal,
    StartTimer,
    StopTimer,
    Timer,
    While,
    columns_used,
    frames_kept,
)
from ...model.typed import Typed
from ...model.types import Array, Map
from ...pyspark import columns
from ...pyspark.layout import Argument, Call, Chain, Items
from ...pyspark.literals import quoted
from ...pyspark.long_text import broken

_LIST = 70
"""The maximum length of a list or mapping on one line."""


def operator_call(step: Operator, frames: Sequence[Chain]) -> Call:
    """Return the call for an operator; ``frames`` are the rows of its inputs."""
    inputs = tuple(_input(step, i, f) for i, f in zip(step.inputs, frames, strict=True))
    arguments: list[Argument] = [
        quoted(step.id),
        f"keys={_mapping((key.name, str(key.type)) for key in step.keys)}",
        Items("inputs", inputs),
    ]
    if step.ordered:
        arguments.append("ordered=True")
    if step.cells:
        by_row = frames_kept(step)
        cells = (_frame(one) if one.name in by_row else _cell(one) for one in step.cells)
        arguments.append(Items("state", tuple(cells)))
    if step.timers:
        arguments.append(Items("timers", tuple(map(_timer, step.timers))))
    if step.python is not None:
        arguments.append(f"python={quoted(step.python)}")
    else:
        arguments.append(Items("handlers", tuple(map(_handler, step.handlers))))
    arguments.append(f"returns={_mapping((f.name, str(f.type)) for f in step.returns)}")
    for field in step.returns.event_times():
        arguments.append(f"event_time={quoted(field.name)}")
    return Call("job.operator", tuple(arguments), open=True)


def _input(step: Operator, given: ProgramInput, frame: Chain) -> Chain:
    arguments: list[Argument] = [quoted(given.alias), frame]
    if given.keys:
        arguments.append(_list("keys", [sql(key.expression) for key in given.keys]))
    if given.event_time is not None:
        arguments.append(f"event_time={quoted(given.event_time)}")
    if given.until is not None:
        arguments.append(f"until={_value(given.until)}")
    arguments.append(_list("columns", columns_used(step, given)))
    return Chain(Call("program.rows", tuple(arguments)))


def _cell(cell: Cell) -> Chain:
    arguments = [quoted(cell.name), quoted(str(cell.entry))]
    if cell.kind is CellKind.MAP and isinstance(cell.type, Map):
        arguments.append(quoted(str(cell.type.value)))
    if cell.default is not None:
        arguments.append(f"default={_value(cell.default)}")
    if cell.ttl is not None:
        arguments.append(f"ttl={quoted(cell.ttl.text)}")
    return Chain(Call(f"program.{cell.kind.value}", tuple(arguments)))


def _frame(cell: Cell) -> Chain:
    assert isinstance(cell.type, Array)
    return _step("frame", quoted(cell.name), quoted(str(cell.type.element)))


def _timer(timer: Timer) -> Chain:
    return _step("processing_timer" if timer.processing else "event_timer", quoted(timer.name))


def _handler(handler: Handler) -> Chain:
    name = "on_timer" if handler.is_timer else "on_event"
    return _block(name, quoted(handler.name), body=handler.body)


@singledispatch
def step(statement: ProgramStatement) -> Chain:
    """Return the step of a statement."""
    raise InternalError(f"no step for {type(statement).__name__}")


@step.register
def emit_set_cell(statement: SetCell) -> Chain:
    """Write SET of a cell."""
    return _step("assign", quoted(statement.cell), _value(statement.value))


@step.register
def emit_keep_rows(statement: KeepRows) -> Chain:
    """Write SET of the rows of a frame: those that are added, and which are left."""
    since, last = statement.since, statement.last
    left = f"last={last}" if since is None else f"since={_value(since)}"
    return _step("keep", quoted(statement.cell), _value(statement.rows), left)


@step.register
def emit_set_local(statement: SetLocal) -> Chain:
    """Write SET of a local."""
    return _step("assign", quoted(statement.name), _value(statement.value))


@step.register
def emit_declare(statement: Declare) -> Chain:
    """Write DECLARE."""
    type_ = quoted(str(statement.value.type))
    return _step("declare", quoted(statement.name), type_, _value(statement.value))


@step.register
def emit_declare_rolled(statement: DeclareRolled) -> Chain:
    """Write DECLARE of an aggregate over the rows of a frame."""
    type_ = quoted(str(statement.value.type))
    return _step("declare", quoted(statement.name), type_, _value(statement.rolled))


@step.register
def emit_if(statement: If) -> Chain:
    """Write IF: the first branch, and each further one as a call on it."""
    first, *others = (
        Call(name, (_condition(branch.condition), *_steps(branch.body)), open=True)
        for name, branch in zip(_branch_names(), statement.branches, strict=False)
    )
    if statement.otherwise:
        others.append(Call("otherwise", tuple(_steps(statement.otherwise)), open=True))
    return Chain(first, tuple(others))


def _branch_names() -> Iterator[str]:
    yield "program.when"
    while True:
        yield "or_when"


@step.register
def emit_while(statement: While) -> Chain:
    """Write WHILE."""
    return _block("loop", _condition(statement.condition), body=statement.body)


@step.register
def emit_for(statement: For) -> Chain:
    """Write FOR."""
    head = (quoted(statement.variable), quoted(str(statement.type)), _value(statement.values))
    return _block("each", *head, body=statement.body)


@step.register
def emit_put(statement: Put) -> Chain:
    """Write PUT."""
    entry = (_value(statement.key), _value(statement.value))
    return _step("put", quoted(statement.cell), *entry)


@step.register
def emit_remove(statement: Remove) -> Chain:
    """Write REMOVE."""
    return _step("remove", quoted(statement.cell), _value(statement.key))


@step.register
def emit_add(statement: Add) -> Chain:
    """Write ADD."""
    return _step("add", quoted(statement.cell), _value(statement.value))


@step.register
def emit_append(statement: Append) -> Chain:
    """Write APPEND."""
    return _step("append", quoted(statement.cell), _value(statement.value))


@step.register
def emit_clear(statement: Clear) -> Chain:
    """Write CLEAR of a cell."""
    return _step("clear", quoted(statement.cell))


@step.register
def emit_clear_state(statement: ClearState) -> Chain:
    """Write CLEAR STATE."""
    return _step("clear_state")


@step.register
def emit_start_timer(statement: StartTimer) -> Chain:
    """Write START TIMER."""
    return _step("start_timer", quoted(statement.timer), _value(statement.at))


@step.register
def emit_stop_timer(statement: StopTimer) -> Chain:
    """Write STOP TIMER."""
    return _step("stop_timer", quoted(statement.timer))


@step.register
def emit_emit(statement: Emit) -> Chain:
    """Write EMIT."""
    return _step("emit", *map(_value, statement.values))


def _step(name: str, *arguments: str) -> Chain:
    return Chain(Call(f"program.{name}", arguments))


def _block(name: str, *head: str, body: tuple[ProgramStatement, ...]) -> Chain:
    return Chain(Call(f"program.{name}", (*head, *_steps(body)), open=True))


def _steps(body: tuple[ProgramStatement, ...]) -> Iterator[Chain]:
    return (step(statement) for statement in body)


def _value(value: Typed) -> str:
    """Return the text of an expression; a long one has lines for its brackets and arguments."""
    text = columns.sql_text(value.expression)
    return text if "\n" in text else broken(sql(value.expression))


def _condition(value: Typed) -> str:
    """Return the text of a condition; a long one has a line for each conjunct."""
    text = columns.sql_text(value.expression)
    return text if len(text) <= columns.WIDE else columns.condition(value.expression)


def _list(name: str, texts: Sequence[str]) -> Argument:
    flat = f"{name}=[{', '.join(map(quoted, texts))}]"
    return flat if len(flat) <= _LIST else Items(name, tuple(map(quoted, texts)))


def _mapping(pairs: Iterator[tuple[str, str]]) -> str:
    items = [f"{quoted(name)}: {quoted(text)}" for name, text in pairs]
    flat = f"{{{', '.join(items)}}}"
    lines = "\n".join(f"    {item}," for item in items)
    return flat if len(flat) <= _LIST else f"{{\n{lines}\n}}"
