"""The program of a SELECT with OVER: how a row updates the state, and its output.

Frames of ROWS, LAG and ROW_NUMBER take the rows of a key one by one:

    ON EVENT
      SET last__rows = concat(filter(last__rows, (row, i) -> i >= size(last__rows) - 5), row);
      DECLARE last = array_max(transform(last__rows, row -> row.amount));
      EMIT k, ts, last;

With RANGE a row sees all rows of its instant. They wait in ``peers`` for a timer of that instant,
which fires after them:

    ON EVENT
      SET peers = concat(peers, array(named_struct('amount', amount)));
      START TIMER instant AT ts;
      START TIMER forget AT ts + INTERVAL 10 MINUTES;
    ON TIMER instant
      SET spend__rows = concat(filter(spend__rows, row -> row.ts >= instant - …), peers);
      DECLARE spend = …;
      FOR peer IN peers DO EMIT k, instant, spend; END FOR;
      CLEAR peers;
    ON TIMER forget
      CLEAR STATE;
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports.source import Span
from ...model import programs as m
from ...model import types as t
from ...model.programs import Cell, CellKind, Operator, ProgramStatement
from ...model.reads import InstantRef
from ...model.schema import Field
from ...model.typed import Typed
from ..clauses.columns import Item
from ..clauses.output_time import with_event_time
from ..programs.reads import clocked
from . import builders as parts
from .frame_values import over_rows
from .frames import ROW, Running, advanced, kept_fields, last_rows, running, with_new
from .over_calls import NUMBERS, OverCall
from .over_reads import RowReads, keys_of
from .over_windows import Frame
from .placeholders import placed
from .program_items import returns_of
from .rolled_values import can_roll, rolled

_Read: TypeAlias = Callable[[e.Expression], e.Expression]
"""Replaces names of columns by their reads."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """The rows of a frame: the cell, its frame, and the field of each kept value.

    ``rolls``: all aggregates over them can be merged, so that the kernel keeps them up to date.
    """

    cell: Cell
    frame: Frame
    fields: tuple[tuple[str, Typed], ...]
    rolls: bool

    def field(self, value: Typed | None) -> str | None:
        """Return the field of a value."""
        if value is None:
            return None
        return next(name for name, kept in self.fields if kept.expression == value.expression)


@dataclass(frozen=True, slots=True)
class Selected:
    """The resolved parts of a SELECT with OVER: ``condition`` is that of QUALIFY."""

    given: m.ProgramInput
    time: Field
    calls: tuple[OverCall, ...]
    items: tuple[Item, ...]
    condition: Typed | None
    span: Span


def over_operator(state_id: str, selected: Selected) -> Operator:
    """Return the operator of a SELECT with OVER."""
    return _Program(selected).operator(state_id)


class _Program:
    """The parts of a program while it is put together."""

    def __init__(self, selected: Selected) -> None:
        self._selected = selected
        self._given = selected.given
        self._span = selected.span
        names = [call.name for call in selected.calls]
        self._reads = RowReads(selected.given, selected.time, selected.span, names)
        self._reads.choose_names(self._expressions())
        self._cells: list[Cell] = []
        self._values: dict[str, e.Expression] = {}
        self._kept = self._frames()
        self._running: dict[str, Running] = {}
        for call in selected.calls:
            self._counted(call)

    def operator(self, state_id: str) -> Operator:
        """Return the program."""
        waits = any(call.sees_peers for call in self._selected.calls)
        handlers = tuple(self._by_instant()) if waits else (self._by_row(),)
        timers = [m.Timer(one.name, processing=False) for one in handlers if one.is_timer]
        step = Operator(
            state_id,
            keys_of(self._given),
            (self._given,),
            True,
            None,
            tuple(self._cells),
            tuple(timers),
            returns_of(self._selected.items),
            handlers,
        )
        return with_event_time(step)

    # State.

    def _array(self, name: str, element: t.Type) -> Cell:
        """Add a list of rows; it is NULL while empty, so that a key without rows is removed."""
        cell = Cell(self._reads.cell(name), CellKind.VALUE, t.Array(element))
        self._cells.append(cell)
        return cell

    def _frames(self) -> dict[str, _Kept]:
        """Return the rows kept for each call; calls of one WINDOW share them."""
        groups: dict[tuple[str, bool], list[OverCall]] = {}
        for call in self._selected.calls:
            if call.frame is not None and not call.frame.is_running:
                shared = call.frame.window
                groups.setdefault((shared or call.name, shared is not None), []).append(call)
        found: dict[str, _Kept] = {}
        for (name, _), calls in groups.items():
            frame = calls[0].frame
            assert frame is not None
            rows = [call.rows for call in calls]
            fields = kept_fields(self._selected.time, rows, self._span)
            type_ = t.Struct(tuple(t.Field(field, value.type) for field, value in fields))
            cell = self._array(f"{name}__rows", type_)
            kept = _Kept(cell, frame, fields, rolls=all(map(can_roll, rows)))
            found |= {call.name: kept for call in calls}
        return found

    def _counted(self, call: OverCall) -> None:
        """Add the cells of a call that keeps no frame."""
        span = call.rows.span
        if call.function == "lag":
            assert call.rows.value is not None
            self._running[call.name] = Running(
                (self._array(f"{call.name}__rows", call.rows.value.type),), call.rows.value
            )
        elif call.function in NUMBERS:
            none = Typed(parts.number(span, 0), t.INT, nullable=False)
            name = f"{call.name}__rows" if call.function == "rank" else call.name
            cell = Cell(name, CellKind.VALUE, t.INT, none)
            self._reads.known(name)
            self._cells.append(cell)
            self._running[call.name] = Running((cell,), none)
            if call.function != "rank":
                self._values[call.name] = parts.cell(span, cell.name)
        elif call.name not in self._kept:
            found = running(call.rows)
            self._running[call.name] = found
            for cell in found.cells:
                self._reads.known(cell.name)
            self._cells += found.cells
            if isinstance(found.value.expression, e.ColumnRef):
                self._values[call.name] = found.value.expression

    # Handlers.

    def _by_row(self) -> m.Handler:
        """Return the only handler of a program whose rows need not wait for each other."""
        body = self._row_steps(self._reads.of_row, self._reads.time())
        return m.Handler(self._given.alias, tuple(body))

    def _by_instant(self) -> Iterator[m.Handler]:
        """Yield the handlers of a program whose rows wait for the others of their instant."""
        used = self._reads.columns(self._expressions())
        element = t.Struct(tuple(t.Field(field.name, field.type) for field in used))
        peers = self._array("peers", element)
        yield m.Handler(self._given.alias, tuple(self._wait(peers, used)))
        yield m.Handler(self._reads.instant, tuple(self._at_instant(peers, element)), is_timer=True)
        if self._longest() is not None:
            yield m.Handler(self._reads.forget, tuple(self._forgotten()), is_timer=True)

    def _wait(self, peers: Cell, used: tuple[Field, ...]) -> Iterator[ProgramStatement]:
        span, time = self._span, self._reads.time()
        row = parts.struct(
            span, ((f.name, Typed(self._reads.column(f.name), f.type, f.nullable)) for f in used)
        )
        one = parts.call(span, "array", row.expression)
        yield m.SetCell(peers.name, Typed(with_new(_read(peers, span), one), peers.type))
        yield m.StartTimer(self._reads.instant, Typed(time, t.TIMESTAMP))
        length = self._longest()
        if length is not None:
            until = e.Binary(span, "+", time, length)
            yield m.StartTimer(self._reads.forget, Typed(until, t.TIMESTAMP))

    def _at_instant(self, peers: Cell, element: t.Struct) -> Iterator[ProgramStatement]:
        calls = [call for call in self._selected.calls if call.sees_peers]
        at = InstantRef(self._span, (Name(self._span, self._reads.instant),))
        for kept in self._kept_of(calls):
            yield self._with_peers(kept, peers, at)
        ranks = [call for call in calls if call.function in NUMBERS]
        yield from (self._ranked(call, peers) for call in ranks)
        folded = [call for call in calls if call not in ranks]
        steps = [one for call in folded for one in self._advanced(call, self._reads.of_peer)]
        if steps:
            yield self._for_each(peers, element, steps)
        for call in calls:
            yield from self._declared(call)
        yield self._for_each(peers, element, self._row_steps(self._reads.of_peer, at))
        yield m.Clear(peers.name)
        if self._longest() is None:
            # Frames that hold the rows of one instant are complete.
            for kept in self._kept_of(call for call in calls if call.is_bounded):
                yield m.Clear(kept.cell.name)

    def _ranked(self, call: OverCall, peers: Cell) -> ProgramStatement:
        """Return what an instant adds to RANK (all its rows) or DENSE_RANK (one)."""
        span, cell = call.rows.span, self._running[call.name].cells[0]
        held, one = _read(cell, span), parts.number(span, 1)
        more: e.Expression = one
        if call.function == "rank":
            more = parts.call(span, "size", _read(peers, span))
            first = e.Binary(span, "+", e.Binary(span, "-", held, more), one)
            self._running[call.name] = Running((cell,), Typed(first, t.INT, nullable=False))
        return m.SetCell(cell.name, Typed(e.Binary(span, "+", held, more), t.INT, nullable=False))

    def _forgotten(self) -> Iterator[ProgramStatement]:
        """Yield the handler for when no future row can see the kept ones."""
        calls = self._selected.calls
        if all(call.is_bounded for call in calls):
            yield m.ClearState()
            return
        for kept in self._kept_of(call for call in calls if call.is_bounded):
            yield m.Clear(kept.cell.name)

    def _for_each(
        self, peers: Cell, element: t.Struct, body: Iterable[ProgramStatement]
    ) -> ProgramStatement:
        values = Typed(_read(peers, self._span), peers.type, nullable=False)
        return m.For(self._reads.peer, element, values, tuple(body))

    def _longest(self) -> e.Interval | None:
        """Return how long a row is visible, None where no later instant sees it."""
        frames = [call.frame for call in self._selected.calls if call.frame and call.is_bounded]
        longest = max(frames, key=lambda frame: frame.micros, default=None)
        return longest.length if longest is not None and longest.micros else None

    # Steps.

    def _row_steps(self, read: _Read, time: e.Expression) -> Iterator[ProgramStatement]:
        """Yield a row's update of state that is updated row by row, and its output."""
        calls = [call for call in self._selected.calls if not call.sees_peers]
        for kept in self._kept_of(calls):
            yield self._with_row(kept, read, time)
        for call in calls:
            if call.function == "lag":
                yield from self._lag(call, read)
                continue
            yield from self._advanced(call, read)
            yield from self._declared(call)
        row = m.Emit(tuple(self._final(item.value, read) for item in self._selected.items))
        condition = self._selected.condition
        if condition is None:
            yield row
        else:
            yield m.If((m.IfBranch(self._final(condition, read), (row,)),), ())

    def _kept_of(self, calls: Iterable[OverCall]) -> list[_Kept]:
        """Return the frames of calls, each once."""
        found = {call.name: self._kept[call.name] for call in calls if call.name in self._kept}
        return list({kept.cell.name: kept for kept in found.values()}.values())

    def _with_row(self, kept: _Kept, read: _Read, time: e.Expression) -> ProgramStatement:
        """Return SET of a frame of ROWS to its last rows and the current one."""
        assert kept.frame.rows is not None
        row = parts.struct(self._span, self._row_of(kept, read, time)).expression
        whole = self._appended(kept.cell, kept.frame.rows, row)
        if not kept.rolls:
            return whole
        new = Typed(parts.call(self._span, "array", row), kept.cell.type)
        return m.KeepRows(whole.cell, whole.value, new, None, kept.frame.rows + 1)

    def _row_of(self, kept: _Kept, read: _Read, time: e.Expression) -> Iterator[tuple[str, Typed]]:
        """Yield what is kept of the current row, its instant first."""
        for place, (name, value) in enumerate(kept.fields):
            expression = time if place == 0 else read(clocked(value).expression)
            yield name, Typed(expression, value.type, value.nullable)

    def _appended(self, cell: Cell, rows: int, row: e.Expression) -> m.SetCell:
        """Return SET of a list to at most ``rows`` of its last elements, and one more."""
        held = _read(cell, self._span)
        return m.SetCell(cell.name, Typed(last_rows(held, rows, row), cell.type))

    def _with_peers(self, kept: _Kept, peers: Cell, at: e.Expression) -> ProgramStatement:
        """Return SET of a frame of RANGE to the rows visible at an instant."""
        span, length = self._span, kept.frame.length
        assert length is not None
        time = e.ColumnRef(span, (Name(span, ROW), Name(span, self._selected.time.name)))
        since = e.Binary(span, "-", at, length)
        is_seen = e.Binary(span, ">=", time, since)
        seen = parts.call(
            *(span, "filter", _read(kept.cell, span), e.Lambda(span, (Name(span, ROW),), is_seen))
        )
        row = parts.struct(span, self._row_of(kept, self._reads.in_lambda, at)).expression
        body = e.Lambda(span, (Name(span, self._reads.peer),), row)
        new = parts.call(span, "transform", _read(peers, span), body)
        whole = Typed(with_new(seen, new), kept.cell.type)
        if not kept.rolls:
            return m.SetCell(kept.cell.name, whole)
        added = Typed(new, kept.cell.type)
        return m.KeepRows(kept.cell.name, whole, added, Typed(since, t.TIMESTAMP), 0)

    def _advanced(self, call: OverCall, read: _Read) -> Iterator[ProgramStatement]:
        """Yield a row's update of a call that sees all rows before it."""
        found = self._running.get(call.name)
        if found is None:
            return
        span = call.rows.span
        if call.function in NUMBERS:
            cell = found.cells[0]
            one = e.Binary(span, "+", parts.cell(span, cell.name), parts.number(span, 1))
            yield m.SetCell(cell.name, Typed(one, t.INT, nullable=False))
            return
        value = call.rows.value
        given = None if value is None else clocked(value).expression
        yield from advanced(call.rows, found.cells, None if given is None else read(given))

    def _declared(self, call: OverCall) -> Iterator[ProgramStatement]:
        """Yield the local of a value that is not a cell."""
        kept, found = self._kept.get(call.name), self._running.get(call.name)
        if kept is not None:
            rows, field = _read(kept.cell, call.rows.span), kept.field(call.rows.value)
            local = self._local(call, over_rows(call.rows, rows, field))
            if kept.rolls:
                value = rolled(call.rows, rows, field)
                local = m.DeclareRolled(local.name, local.value, value)
            yield local
        elif found is not None and call.name not in self._values:
            yield self._local(call, found.value)

    def _local(self, call: OverCall, value: Typed) -> m.Declare:
        self._values[call.name] = parts.local(call.rows.span, call.name)
        return m.Declare(call.name, Typed(value.expression, call.rows.type, call.rows.nullable))

    def _lag(self, call: OverCall, read: _Read) -> Iterator[ProgramStatement]:
        """Yield the value some rows back, once there are that many.

        After a change of the distance there may be more.
        """
        span, cell, value = call.rows.span, self._running[call.name].cells[0], call.rows.value
        assert value is not None
        held, back = _read(cell, span), parts.number(span, call.distance)
        size = parts.call(span, "size", held)
        place = e.Binary(span, "-", size, back)
        # No such position: NULL.
        chosen: e.Expression = parts.call(span, "get", held, place)
        if call.default is not None:
            default = read(clocked(call.default).expression)
            is_full = e.When(span, e.Binary(span, ">=", size, back), e.Index(span, held, place))
            chosen = e.Case(span, None, (is_full,), default)
        yield self._local(call, Typed(chosen, value.type))
        yield self._appended(cell, call.distance - 1, read(clocked(value).expression))

    # Names.

    def _final(self, value: Typed, read: _Read) -> Typed:
        """Return an expression over the state and the current row."""
        found = placed(read(clocked(value).expression), self._values)
        return Typed(found, value.type, value.nullable)

    def _expressions(self) -> Iterator[e.Expression]:
        """Yield all expressions of the SELECT over columns."""
        yield from (item.value.expression for item in self._selected.items)
        if self._selected.condition is not None:
            yield self._selected.condition.expression
        for call in self._selected.calls:
            for value in (call.rows.value, call.default):
                if value is not None:
                    yield value.expression


def _read(cell: Cell, span: Span) -> e.Expression:
    return parts.cell(span, cell.name)
