"""COUNT_WINDOW: a window of a number of rows of a key, in event-time order.

    SELECT k, window_start, SUM(x) AS total FROM COUNT_WINDOW(t PARTITION BY k, 100)
    GROUP BY k, window_start

    ON EVENT
      SET window__start = coalesce(window__start, ts);
      SET window__count = window__count + 1;
      SET total = coalesce(total + x, x, total);
      IF window__count >= 100 THEN
        EMIT k, window__start, total;
        CLEAR STATE;
      END IF;

With a slide the last rows are kept, and a window of them is emitted each time that many rows have
arrived, as in Flink: the first windows have fewer rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports.source import Span
from ...model import programs as m
from ...model import types as t
from ...model.programs import Cell, CellKind, Operator, ProgramInput, ProgramStatement
from ...model.schema import Field
from ...model.typed import Typed
from ..clauses.columns import Item
from ..clauses.output_time import with_event_time
from ..programs.reads import clocked
from . import builders as parts
from .frame_values import over_rows
from .frames import RowsCall, advanced, kept_fields, last_rows, running
from .over_reads import RowReads, keys_of
from .placeholders import placed
from .program_items import returns_of


@dataclass(frozen=True, slots=True)
class Counted:
    """A resolved SELECT over a count window: a window of ``size`` rows every ``slide`` rows.

    ``starts`` says that the start of the window is needed; ``condition`` is that of HAVING.
    """

    given: ProgramInput
    time: Field
    size: int
    slide: int
    calls: tuple[RowsCall, ...]
    starts: bool
    items: tuple[Item, ...]
    condition: Typed | None
    span: Span


def count_operator(state_id: str, counted: Counted) -> Operator:
    """Return the operator of a SELECT over a count window."""
    return _Program(counted).operator(state_id)


class _Program:
    """The parts of a program under construction."""

    def __init__(self, counted: Counted) -> None:
        self._counted = counted
        self._span = counted.span
        names = [call.name for call in counted.calls]
        self._reads = RowReads(counted.given, counted.time, counted.span, names)
        self._cells: list[Cell] = []
        # The end of a window is the instant of its last row, when it is emitted.
        self._values: dict[str, e.Expression] = {}
        none = Typed(parts.cast(parts.number(counted.span, 0), t.BIGINT), t.BIGINT, nullable=False)
        self._count = self._cell("window__count", t.BIGINT, none)

    def operator(self, state_id: str) -> Operator:
        """Return the program."""
        counted, given = self._counted, self._counted.given
        slides = counted.slide < counted.size
        body = tuple(self._sliding() if slides else self._tumbling())
        step = Operator(
            state_id,
            keys_of(given),
            (given,),
            ordered=True,
            late_rows=None,
            cells=tuple(self._cells),
            timers=(),
            returns=returns_of(counted.items),
            handlers=(m.Handler(given.alias, body),),
        )
        return with_event_time(step)

    def _cell(self, name: str, type_: t.Type, default: Typed | None = None) -> Cell:
        cell = Cell(self._reads.cell(name), CellKind.VALUE, type_, default)
        self._cells.append(cell)
        return cell

    def _tumbling(self) -> Iterator[ProgramStatement]:
        """Yield the steps of windows that share no rows: each row updates the aggregates."""
        span, declared = self._span, []
        found = [(call, running(call)) for call in self._counted.calls]
        for _, one in found:
            for cell in one.cells:
                self._reads.known(cell.name)
            self._cells += one.cells
        if self._counted.starts:
            start = self._cell("window__start", t.TIMESTAMP)
            held = parts.cell(span, start.name)
            first = parts.call(span, "coalesce", held, self._reads.time())
            yield m.SetCell(start.name, Typed(first, t.TIMESTAMP))
            self._values["window_start"] = held
        yield self._one_more()
        for call, one in found:
            value = None if call.value is None else clocked(call.value).expression
            given = None if value is None else self._reads.of_row(value)
            yield from advanced(call, one.cells, given)
            self._values[call.name] = one.value.expression
            if not isinstance(one.value.expression, e.ColumnRef):
                declared.append(self._local(call, one.value))
        yield self._closed((*declared, *self._rows()), m.ClearState())

    def _sliding(self) -> Iterator[ProgramStatement]:
        """Yield the steps of windows that share rows, which are kept."""
        span = self._span
        columns = kept_fields(self._counted.time, self._counted.calls, span)
        type_ = t.Array(t.Struct(tuple(t.Field(name, one.type) for name, one in columns)))
        kept = self._cell("window__rows", type_)
        held = parts.cell(span, kept.name)
        read = (
            (name, Typed(self._reads.of_row(clocked(one).expression), one.type))
            for name, one in columns
        )
        row = parts.struct(span, read).expression
        yield m.SetCell(kept.name, Typed(last_rows(held, self._counted.size - 1, row), type_))
        yield self._one_more()
        fields = {one.expression: name for name, one in columns}
        declared = []
        for call in self._counted.calls:
            field = None if call.value is None else fields[call.value.expression]
            declared.append(self._local(call, over_rows(call, held, field)))
        first = e.Index(span, held, parts.number(span, 0))
        name = Name(span, self._counted.time.name)
        self._values["window_start"] = e.FieldAccess(span, first, name)
        yield self._closed((*declared, *self._rows()), m.Clear(self._count.name))

    def _one_more(self) -> ProgramStatement:
        span, held = self._span, parts.cell(self._span, self._count.name)
        more = e.Binary(span, "+", held, parts.number(span, 1))
        return m.SetCell(self._count.name, Typed(more, t.BIGINT, nullable=False))

    def _closed(self, body: Iterable[ProgramStatement], then: ProgramStatement) -> ProgramStatement:
        span, held = self._span, parts.cell(self._span, self._count.name)
        # After a change of the size there may be more.
        is_full = e.Binary(span, ">=", held, parts.number(span, self._counted.slide))
        branch = m.IfBranch(Typed(is_full, t.BOOLEAN), (*body, then))
        return m.If((branch,), ())

    def _local(self, call: RowsCall, value: Typed) -> ProgramStatement:
        self._values[call.name] = parts.local(call.span, call.name)
        return m.Declare(call.name, Typed(value.expression, call.type, call.nullable))

    def _rows(self) -> Iterator[ProgramStatement]:
        """Yield the output of a window: a row, if HAVING accepts it."""
        for name in ("window_end", "window_time"):
            self._values[name] = self._reads.time()
        row = m.Emit(tuple(self._final(item.value) for item in self._counted.items))
        condition = self._counted.condition
        if condition is None:
            yield row
        else:
            yield m.If((m.IfBranch(self._final(condition), (row,)),), ())

    def _final(self, value: Typed) -> Typed:
        found = placed(self._reads.of_row(clocked(value).expression), self._values)
        return Typed(found, value.type, value.nullable)
