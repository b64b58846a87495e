"""The output for a match: one row, or with ALL ROWS PER MATCH each of its rows.

With ALL ROWS an attempt keeps its rows, with the measures as they were at each: SQL calls these
RUNNING. They are emitted together once the match is complete.

    on event t    set runs = array_append(runs, <run, with array_append(run.rows, <the row>)>)
    …             for row in run.kept emit k, row.ts, row.measure, row.price

MATCH_NUMBER() is a cell that each match increments, in the order in which matches begin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.ast.walk import walk
from ....dsl.reports.source import Span
from ...model import programs as m
from ...model import types as t
from ...model.schema import Field, Schema
from ...model.steps import Column
from ...model.typed import Typed
from . import builders as parts
from .match_fields import Memory


@dataclass(frozen=True, slots=True)
class NumberRef(e.ColumnRef):
    """``MATCH_NUMBER()``, before its cell is known."""


@dataclass(frozen=True, slots=True)
class MatchRows:
    """The output columns without keys: ``measures``, and ``columns`` of ALL ROWS.

    ``column`` reads a column of the current row.
    """

    span: Span
    measures: tuple[Column, ...]
    columns: tuple[Field, ...] | None
    column: Callable[[str], e.Expression] = field(compare=False, repr=False)

    @property
    def counts(self) -> bool:
        """Whether matches are numbered."""
        return any(map(_is_number, self.measures))

    @property
    def schema(self) -> Schema:
        """The columns; matches have no event time."""
        measures = tuple(Field(one.name, one.value.type) for one in self.measures)
        columns = tuple(Field(one.name, one.type, one.nullable) for one in self.columns or ())
        return Schema((*measures, *columns))

    @property
    def kept(self) -> t.Array | None:
        """The type of the rows kept by an attempt, None where it keeps none."""
        if self.columns is None:
            return None
        measures = [t.Field(one.name, one.value.type) for one in self._running()]
        columns = [t.Field(one.name, one.type) for one in self.columns]
        return t.Array(t.Struct((*measures, *columns)))

    def _running(self) -> list[Column]:
        """Return the measures with a value for each row."""
        return [one for one in self.measures if not _is_number(one)]

    def row(self, memory: Memory, variable: str) -> e.Expression:
        """Return what is kept of a row of a variable."""
        measures = (
            (one.name, Typed(memory.as_of(one.value.expression, variable), one.value.type))
            for one in self._running()
        )
        columns = ((one.name, Typed(self.column(one.name), one.type)) for one in self.columns or ())
        return parts.struct(self.span, (*measures, *columns)).expression

    def given(
        self, keys: tuple[Typed, ...], number: str, row: str, rows: e.Expression
    ) -> tuple[m.ProgramStatement, ...]:
        """Return the statements that emit a match.

        ``number`` is the cell of MATCH_NUMBER, ``row`` the local of a row of ``rows``.
        """
        span, counted = self.span, parts.cell(self.span, number)
        found: list[m.ProgramStatement] = []
        if self.counts:
            more = e.Binary(span, "+", counted, parts.number(span, 1))
            found.append(m.SetCell(number, Typed(more, t.BIGINT, nullable=False)))

        def value(one: Column) -> Typed:
            if _is_number(one):
                return Typed(counted, t.BIGINT, nullable=False)
            if self.kept is None:
                return one.value
            return Typed(parts.local(span, row, one.name), one.value.type)

        measures = tuple(value(one) for one in self.measures)
        columns = tuple(
            Typed(parts.local(span, row, one.name), one.type, one.nullable)
            for one in self.columns or ()
        )
        emit = m.Emit((*keys, *measures, *columns))
        if self.kept is None:
            return (*found, emit)
        return (*found, m.For(row, self.kept.element, Typed(rows, self.kept), (emit,)))

    def cells(self, number: str) -> tuple[m.Cell, ...]:
        """Return the cell of MATCH_NUMBER, if it is used."""
        if not self.counts:
            return ()
        none = Typed(parts.cast(parts.number(self.span, 0), t.BIGINT), t.BIGINT, nullable=False)
        return (m.Cell(number, m.CellKind.VALUE, t.BIGINT, none),)


def match_number(span: Span) -> Typed:
    """Return MATCH_NUMBER() as a measure."""
    return Typed(NumberRef(span, (Name(span, "match_number"),)), t.BIGINT, nullable=False)


def has_number(value: e.Expression) -> bool:
    """Return whether MATCH_NUMBER() is a proper part of an expression."""
    return not isinstance(value, NumberRef) and any(
        isinstance(one, NumberRef) for one in walk(value)
    )


def _is_number(one: Column) -> bool:
    return isinstance(one.value.expression, NumberRef)
