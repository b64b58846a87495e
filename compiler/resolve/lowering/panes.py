"""EMIT EARLY and ALLOWED LATENESS: a windowed aggregate that emits several panes of a window.

    SELECT k, window_start, SUM(x) AS total, pane FROM TUMBLE(t, ts, INTERVAL 1 HOUR)
    GROUP BY k, window_start EMIT EARLY EVERY INTERVAL 1 MINUTE ALLOWED LATENESS INTERVAL 1 DAY

    ON EVENT
      SET `sum(x)` = coalesce(`sum(x)` + x, x, `sum(x)`);
      IF window.end <= watermark_before() THEN
        START TIMER late AT window.end;
      ELSE
        START TIMER close AT window.end;
        SET early_at = coalesce(early_at, now() + INTERVAL 1 MINUTE);
        START TIMER early AT early_at;
      END IF;
      START TIMER forget AT window.end + INTERVAL 1 DAY;
    ON TIMER early
      CLEAR early_at;
      EMIT k, window, `sum(x)`, 'early';
    ON TIMER close
      STOP TIMER early;
      EMIT k, window, `sum(x)`, 'on_time';
      CLEAR early_at;
    ON TIMER late
      EMIT k, window, `sum(x)`, 'late';
    ON TIMER forget
      CLEAR STATE;

The key consists of the grouping keys and the window. The watermark of the previous epoch decides
whether a row is on time, as for Spark's own aggregates: the on-time pane is their result. Timers
fire after the rows of an epoch, so that a window has one late pane per epoch, and emits it before
it is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import rewrite, walk
from ....dsl.reports.source import Span
from ...model import programs as m
from ...model import types as t
from ...model.programs import Cell, CellKind, Operator, Panes, ProgramInput, ProgramStatement
from ...model.reads import KeyRef, NowCall, WatermarkBeforeCall
from ...model.same import canonical
from ...model.schema import Field, Schema
from ...model.steps import WINDOW_STRUCTS, Aggregate, AssignWindow, Column, Filter, Project
from ...model.typed import Typed
from ..expressions.typing import FoundAggregate
from ..programs.reads import clocked
from ..scopes.relation_builder import Chain
from ..scopes.scope import PaneRef, Visible, is_window_time
from . import builders as parts
from .pane_calls import PaneCall, pane_call, result_of
from .program_items import has_type, no_type, refuse_python

_WINDOW = WINDOW_STRUCTS[0]
PANE = "pane"


@dataclass(frozen=True, slots=True)
class PanedBlock:
    """An aggregate with panes: the plain aggregate, and the steps after it.

    ``found`` are its aggregates; ``having`` and ``columns`` are over its output.
    """

    step: Aggregate
    panes: Panes
    rows: Visible
    found: Mapping[e.Call, FoundAggregate]
    having: Typed | None
    columns: tuple[Column, ...]
    schema: Schema


def add_panes(block: PanedBlock, chain: Chain) -> None:
    """Append window, operator, HAVING and select list; report what can't be in panes."""
    diagnostics = chain.context.diagnostics
    before = diagnostics.errors
    for value in (*(c.value for c in block.step.columns), *(k.value for k in block.step.keys)):
        refuse_python(value, "a SELECT with panes", diagnostics)
    calls: dict[e.Expression, PaneCall] = {}
    for call in block.step.calls:
        made = pane_call(block.found[call.call], call.id)
        if isinstance(made, PaneCall):
            calls[canonical(call.call)] = made
        else:
            diagnostics.add(made)
    for key in block.step.keys:
        if not has_type(key.value):
            diagnostics.add(no_type(key.value.expression))
    if diagnostics.errors > before:
        return
    program = _Program(block, calls, chain.inputs[0], chain.span)
    chain.add(AssignWindow(block.panes.window))
    chain.add(program.operator())
    if block.having is not None:
        behind = program.behind(block.having.expression)
        chain.add(Filter(replace(block.having, expression=behind)))
    columns = (
        Column(c.name, replace(c.value, expression=program.behind(c.value.expression)))
        for c in block.columns
    )
    chain.changes = True
    chain.add(Project(tuple(columns)), block.schema)


class _Program:
    """The program of a block, and the names in it."""

    def __init__(
        self, block: PanedBlock, calls: Mapping[e.Expression, PaneCall], relation: str, span: Span
    ) -> None:
        self._block = block
        self._panes = block.panes
        self._calls = calls
        self._relation = relation
        self._span = span
        cells = [cell.name.lower() for call in calls.values() for cell in call.cells]
        keys = [key.name.lower() for key in block.step.keys]
        self._hidden = {*keys, *cells, _WINDOW}
        self._early_at = parts.free_name("early_at", self._hidden)
        self._hidden.add(self._early_at)
        self._timers = {n: parts.free_name(n, self._hidden) for n in self._timer_names()}
        columns = {column.name.lower() for column in block.step.columns}
        self._pane = parts.free_name(PANE, {*keys, *columns, _WINDOW})
        read = [c.value for c in block.columns] + ([block.having] if block.having else [])
        self._tells = any(_reads_pane(value.expression) for value in read)

    def operator(self) -> Operator:
        """Return the step."""
        step = self._block.step
        keys = [m.ProgramKey(key.name, key.value.type) for key in step.keys]
        return Operator(
            step.id,
            (*keys, m.ProgramKey(_WINDOW, t.WINDOW)),
            (self._input(),),
            ordered=False,
            late_rows=None,
            cells=tuple(self._cells()),
            timers=tuple(m.Timer(name, n == "early") for n, name in self._timers.items()),
            returns=self._returns(),
            handlers=tuple(self._handlers()),
            panes=self._panes,
        )

    def behind(self, expression: e.Expression) -> e.Expression:
        """Return an expression over the aggregate as one over the program's output."""

        def change(node: Node) -> Node | None:
            if isinstance(node, PaneRef):
                return _column(node.span, self._pane)
            if isinstance(node, e.Expression) and is_window_time(node):
                # The last instant in the window, in Spark's precision.
                return parts.after(_column(node.span, _WINDOW, "end"), -1)
            return None

        return rewrite(expression, change)

    # Its parts.

    def _timer_names(self) -> list[str]:
        names = ["early"] if self._panes.early is not None else []
        names.append("close")
        return [*names, "late", "forget"] if self._panes.lateness is not None else names

    def _input(self) -> ProgramInput:
        rows, step = self._block.rows, self._block.step
        window = _column(self._span, _WINDOW)
        keys = (*(key.value for key in step.keys), Typed(window, t.WINDOW, nullable=False))
        closed = Typed(self._end_of(_column(self._span, _WINDOW, "end")), t.TIMESTAMP)
        schema = Schema((*rows.schema, Field(_WINDOW, t.WINDOW, nullable=False)))
        return ProgramInput(self._relation, rows.alias, schema, keys, None, closed)

    def _cells(self) -> Iterator[Cell]:
        for call in self._calls.values():
            yield from call.cells
        if self._panes.early is not None:
            yield Cell(self._early_at, CellKind.VALUE, t.TIMESTAMP)

    def _returns(self) -> Schema:
        step = self._block.step
        fields = [Field(key.name, key.value.type, key.value.nullable) for key in step.keys]
        fields.append(Field(_WINDOW, t.WINDOW, nullable=False))
        fields += [Field(c.name, self._type(c.value)) for c in step.columns]
        if self._tells:
            fields.append(Field(self._pane, t.STRING, nullable=False))
        return Schema(tuple(fields))

    def _type(self, value: Typed) -> t.Type:
        call = value.expression
        found = self._block.found.get(call) if isinstance(call, e.Call) else None
        return value.type if found is None else result_of(found).type

    # Its handlers.

    def _handlers(self) -> Iterator[m.Handler]:
        yield m.Handler(self._block.rows.alias, tuple(self._event()))
        timers = self._timers
        if "early" in timers:
            yield self._on_timer("early", m.Clear(self._early_at), self._emit("early"))
        yield self._on_timer("close", *self._closes())
        if "late" in timers:
            yield self._on_timer("late", self._emit("late"))
            yield self._on_timer("forget", m.ClearState())

    def _on_timer(self, name: str, *body: ProgramStatement) -> m.Handler:
        return m.Handler(self._timers[name], body, is_timer=True)

    def _event(self) -> Iterator[ProgramStatement]:
        for call in self._calls.values():
            yield from call.advance(self._of_row)
        span, end = self._span, self._window_end()
        opens = (self._start("close", end), *self._wakes_early())
        if "late" not in self._timers:
            yield from opens
            return
        before = WatermarkBeforeCall(span, Name(span, "watermark_before"), ())
        is_late = Typed(e.Binary(span, "<=", end, before), t.BOOLEAN)
        yield m.If((m.IfBranch(is_late, (self._start("late", end),)),), opens)
        yield self._start("forget", self._end_of(end))

    def _wakes_early(self) -> Iterator[ProgramStatement]:
        """Yield the steps that schedule the next early pane, unless one is scheduled."""
        if self._panes.early is None:
            return
        span, held = self._span, parts.cell(self._span, self._early_at)
        now = NowCall(span, Name(span, "now"), ())
        next_ = parts.call(span, "coalesce", held, parts.after(now, self._panes.early.micros))
        yield m.SetCell(self._early_at, Typed(next_, t.TIMESTAMP))
        yield self._start("early", held)

    def _closes(self) -> Iterator[ProgramStatement]:
        if "early" in self._timers:
            yield m.StopTimer(self._timers["early"])
        yield self._emit("on_time")
        if "late" not in self._timers:
            yield m.ClearState()
        elif "early" in self._timers:
            yield m.Clear(self._early_at)

    def _start(self, timer: str, at: e.Expression) -> ProgramStatement:
        return m.StartTimer(self._timers[timer], Typed(at, t.TIMESTAMP))

    def _emit(self, pane: str) -> ProgramStatement:
        span, step = self._span, self._block.step
        values = [Typed(parts.key(span, key.name), key.value.type) for key in step.keys]
        values.append(Typed(parts.key(span, _WINDOW), t.WINDOW))
        values += [Typed(self._so_far(c.value), self._type(c.value)) for c in step.columns]
        if self._tells:
            values.append(Typed(parts.text(span, pane), t.STRING))
        return m.Emit(tuple(values))

    # Expressions.

    def _so_far(self, value: Typed) -> e.Expression:
        """Return an expression over aggregates as one over their cells."""

        def change(node: Node) -> Node | None:
            if not isinstance(node, e.Call):
                return None
            call = self._calls.get(canonical(node))
            return None if call is None else call.value.expression

        return rewrite(clocked(value).expression, change)

    def _of_row(self, expression: e.Expression) -> e.Expression:
        """Return an expression over a row; columns hidden by names of the state are qualified."""
        found = clocked(Typed(expression, t.UNKNOWN)).expression

        def change(ref: e.ColumnRef) -> e.Expression:
            head, *path = ref.parts
            if head.text.lower() not in self._hidden:
                return ref
            alias = Name(ref.span, self._block.rows.alias)
            return e.ColumnRef(ref.span, (alias, head, *path))

        return parts.replaced(found, change)

    def _window_end(self) -> e.Expression:
        return KeyRef(self._span, (Name(self._span, _WINDOW), Name(self._span, "end")))

    def _end_of(self, end: e.Expression) -> e.Expression:
        """Return when a window stops accepting rows."""
        lateness = self._panes.lateness
        return end if lateness is None else parts.after(end, lateness.micros)


def _column(span: Span, *path: str) -> e.ColumnRef:
    return e.ColumnRef(span, tuple(Name(span, part) for part in path))


def _reads_pane(expression: e.Expression) -> bool:
    return any(isinstance(node, PaneRef) for node in walk(expression))
