"""Errors and warnings about a program whose statements are each valid."""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl.ast import expressions as e
from ....dsl.ast import statements as st
from ....dsl.ast.walk import walk
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.source import Span
from ...model import programs as m
from ...model.chance import is_drawn
from ...model.programs import CellKind, Operator
from ...model.reads import cells_read, locals_read


def check_program(
    node: st.CreateOperator, operator: Operator, *, unbounded: bool
) -> Iterator[Diagnostic]:
    """Yield the diagnostics about an operator as a whole."""
    if not node.inputs[0].partition_by:
        yield _one_core(node)
    if not operator.ordered:
        yield _arrival(node, operator)
    if operator.python is not None:
        return
    body = [one for handler in operator.handlers for one in m.statements(handler.body)]
    if not any(isinstance(one, m.Emit) for one in body):
        yield _no_emit(node)
    yield from _unused_cells(node, operator, body)
    yield from _unused_timers(node, body)
    if not unbounded:
        yield from _unbounded(node, operator)
    for one in body:
        if isinstance(one, m.While) and not _may_end(one):
            yield _endless(one)
        elif isinstance(one, m.If):
            yield from _unreachable(one)


def _spans(node: st.CreateOperator) -> dict[str, Span]:
    return {cell.name.text: cell.name.span for cell in node.state}


def _unused_cells(
    node: st.CreateOperator, operator: Operator, body: list[m.ProgramStatement]
) -> Iterator[Diagnostic]:
    read = {
        name
        for one in body
        for value in m.expressions(one)
        for name in cells_read(value.expression)
    }
    written = {name for one in body if (name := m.cell_written(one)) is not None}
    spans = _spans(node)
    defaults = {cell.name.text: cell.default for cell in node.state}
    for cell in operator.cells:
        if cell.name not in read:
            yield _never_read(cell, spans[cell.name])
        elif cell.name not in written:
            yield _never_written(cell, spans[cell.name], defaults[cell.name])


def _unused_timers(node: st.CreateOperator, body: list[m.ProgramStatement]) -> Iterator[Diagnostic]:
    started = {one.timer.lower() for one in body if isinstance(one, m.StartTimer)}
    for timer in node.timers:
        if timer.name.text.lower() not in started:
            yield Diagnostic(
                codes.TIMER_NEVER_STARTED,
                f"nothing starts timer `{timer.name}`",
                Label(timer.name.span),
                help=f"write `START TIMER {timer.name} AT …`, or remove it and its handler",
            )


def _unbounded(node: st.CreateOperator, operator: Operator) -> Iterator[Diagnostic]:
    """Yield one diagnostic for all cells that are never cleared."""
    kept = m.kept_for_good(operator)
    if not kept:
        return
    names = " and ".join(f"`{cell.name}`" for cell in kept)
    spans = _spans(node)
    yield Diagnostic(
        codes.UNBOUNDED_STATE,
        f"the state of this operator would grow forever: nothing removes {names}",
        Label(spans[kept[0].name], "kept forever for each key" if operator.keys else "grows"),
        secondary=tuple(Label(spans[cell.name]) for cell in kept[1:]),
        help=f"expire it, `TTL ({kept[0].name} INTERVAL 30 DAYS)`; or CLEAR it in a handler; or "
        f"accept it: `CREATE OPERATOR {node.name} WITH (unbounded = 'why') ON …`",
    )


def _may_end(loop: m.While) -> bool:
    """Return whether something in a loop may change its condition."""
    condition = loop.condition.expression
    for found in walk(condition):
        if isinstance(found, e.Call) and is_drawn(found):
            return True
    cells, locals_ = set(cells_read(condition)), set(locals_read(condition))
    for one in m.statements(loop.body):
        changed = {m.cell_written(one), m.cell_emptied(one)}
        if cells & changed or (cells and isinstance(one, m.ClearState)):
            return True
        if isinstance(one, m.SetLocal) and one.name in locals_:
            return True
    return False


def _unreachable(statement: m.If) -> Iterator[Diagnostic]:
    """Yield the branches that are unreachable because of their own or an earlier condition."""
    seen: list[e.Expression] = []
    certain: e.Expression | None = None
    for branch in statement.branches:
        condition = branch.condition.expression
        never = isinstance(condition, e.NullLiteral) or condition == e.BooleanLiteral(
            condition.span, False
        )
        if certain is not None:
            yield _never(condition, certain, "is always true")
        elif never:
            yield _never(condition, condition, "is never true")
        elif condition in seen and not _by_chance(condition):
            yield _never(condition, seen[seen.index(condition)], "is true of the same rows")
        elif condition == e.BooleanLiteral(condition.span, True):
            certain = condition
        seen.append(condition)
    if certain is not None and statement.otherwise and certain is seen[-1]:
        yield _never(certain, certain, "is always true", "ELSE")


def _by_chance(condition: e.Expression) -> bool:
    calls = (one for one in walk(condition) if isinstance(one, e.Call))
    return any(is_drawn(call) for call in calls)


def _never(
    condition: e.Expression, why: e.Expression, because: str, what: str = "this branch"
) -> Diagnostic:
    is_other = why is not condition
    return Diagnostic(
        codes.UNREACHABLE,
        f"{what} is never reached: `{sql(why)}` {because}",
        Label(condition.span),
        secondary=(Label(why.span),) if is_other else (),
        help="remove it, or correct the condition",
    )


def _endless(loop: m.While) -> Diagnostic:
    condition = loop.condition.expression
    return Diagnostic(
        codes.ENDLESS_LOOP,
        "nothing in this loop changes its condition",
        Label(condition.span, "once true, always true"),
        help="change what it reads, as in `SET n = n - 1;`, or write `IF` to run once",
    )


def _no_emit(node: st.CreateOperator) -> Diagnostic:
    return Diagnostic(
        codes.NO_OUTPUT,
        f"no handler of `{node.name}` outputs a row",
        Label(node.name.span),
        help=(
            f"write `EMIT {', '.join(p.name.text for p in node.returns)};` where a row is to "
            "be output"
        ),
    )


def _never_read(cell: m.Cell, span: Span) -> Diagnostic:
    return Diagnostic(
        codes.CELL_NEVER_READ,
        f"nothing reads cell `{cell.name}`",
        Label(span, "kept for each key, but never used"),
        help="remove it and the statements that write it, or read it",
    )


def _never_written(cell: m.Cell, span: Span, default: e.Expression | None) -> Diagnostic:
    is_value = cell.kind is CellKind.VALUE
    always = "NULL" if default is None else sql(default)
    return Diagnostic(
        codes.CELL_NEVER_WRITTEN,
        f"nothing writes cell `{cell.name}`",
        Label(span, f"always {always if is_value else 'empty'}"),
        help=f"write `SET {cell.name} = …`, or remove it"
        if is_value
        else "add entries to it, or remove it",
    )


def _one_core(node: st.CreateOperator) -> Diagnostic:
    given = node.inputs[0]
    return Diagnostic(
        codes.ONE_CORE,
        f"`{node.name}` has no PARTITION BY: one core processes all its rows",
        Label(given.stream.span),
        help=f"write `ON {given.stream} PARTITION BY k …` if rows with different `k` are "
        "independent",
    )


def _arrival(node: st.CreateOperator, operator: Operator) -> Diagnostic:
    times = [given.event_time for given in operator.inputs]
    fix = "give its inputs a WATERMARK and ORDER BY"
    if times[0] is not None and None not in times:
        fix = (
            f"write `ORDER BY {times[0]}` after its keys: rows are buffered until the "
            "watermark has passed them"
        )
        if len(times) > 1:
            fix = "write ORDER BY after the keys of each input: rows are buffered for the watermark"
    return Diagnostic(
        codes.ARRIVAL_ORDER,
        f"the result of `{node.name}` may depend on the order in which rows arrive",
        Label(node.name.span, "processes rows in the epoch in which they arrive"),
        help=f"{fix}; or leave it, to process rows immediately",
    )
