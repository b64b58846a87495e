"""The meaning of names in the expressions of a SELECT with OVER, inside the program.

in the handler of a row       columns of the row, which names of the state may hide
for a row of an instant       fields of ``peer``, a local or a lambda's parameter; the keys;
the instant instead of the event time
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports.source import Span
from ...model.programs import ProgramInput, ProgramKey
from ...model.reads import InstantRef
from ...model.schema import Field
from . import builders as parts


class RowReads:
    """The names of a program, and expressions over its rows.

    ``values`` are the names of computed values, which are names of the state or of locals.
    """

    def __init__(self, given: ProgramInput, time: Field, span: Span, values: Iterable[str]) -> None:
        self.instant = "instant"
        self.forget = "forget"
        self.peer = "peer"
        self._given = given
        self._time_column = time
        self._span = span
        self._keys = {key.expression for key in given.keys}
        self._state = {name.lower() for name in values}
        self._outside = {given.alias.lower()} | {last_part(key).lower() for key in self._keys}

    def choose_names(self, expressions: Iterable[e.Expression]) -> None:
        """Choose names without another meaning in the expressions of the SELECT."""
        taken = self._state | self._outside | {n.lower() for n in self._given.schema.names()}
        for expression in expressions:
            taken |= parts.parameters_of(expression)
        self.instant = parts.free_name(self.instant, taken)
        self.forget = parts.free_name(self.forget, taken)
        self.peer = parts.free_name(self.peer, taken)
        self._outside |= {name.lower() for name in (self.instant, self.forget, self.peer)}

    def cell(self, name: str) -> str:
        """Return the name of a new cell that is not itself a value."""
        name = parts.free_name(name, self._state | self._outside)
        self._state.add(name.lower())
        return name

    def known(self, name: str) -> None:
        """Note the name of a cell that is, or begins with, that of a value."""
        self._state.add(name.lower())

    def time(self) -> e.ColumnRef:
        """Return the event time of the current row."""
        return self.column(self._time_column.name)

    def column(self, name: str) -> e.ColumnRef:
        """Return a column of the current row, qualified where its name is hidden."""
        return parts.column(self._span, self._given.alias, name, self._state)

    def of_row(self, expression: e.Expression) -> e.Expression:
        """Return an expression over the current row."""

        def change(ref: e.ColumnRef) -> e.Expression:
            head, *path = ref.parts
            if head.text.lower() not in self._state:
                return ref
            return e.ColumnRef(ref.span, (Name(ref.span, self._given.alias), head, *path))

        return parts.replaced(expression, change)

    def of_peer(self, expression: e.Expression) -> e.Expression:
        """Return an expression over the current row of a loop."""
        return self._at_peer(expression, parts.local)

    def in_lambda(self, expression: e.Expression) -> e.Expression:
        """Return an expression over the row in a lambda."""
        return self._at_peer(expression, _parameter)

    def columns(self, expressions: Iterable[e.Expression]) -> tuple[Field, ...]:
        """Return the columns that a row must keep until its instant has passed; at least one."""
        used: set[str] = set()

        def note(ref: e.ColumnRef) -> e.Expression:
            if not self._is_key(ref):
                used.add(ref.parts[0].text)
            return ref

        for expression in expressions:
            parts.replaced(expression, note)
        time = self._time_column
        found = [f for f in self._given.schema if f.name in used and f.name != time.name]
        return tuple(found) or (time,)

    def _at_peer(self, expression: e.Expression, row: Callable[..., e.ColumnRef]) -> e.Expression:
        def change(ref: e.ColumnRef) -> e.Expression:
            head, *path = (part.text for part in ref.parts)
            if head == self._time_column.name:
                return InstantRef(ref.span, (Name(ref.span, self.instant),))
            return (
                parts.key(ref.span, head)
                if self._is_key(ref)
                else row(ref.span, self.peer, head, *path)
            )

        return parts.replaced(expression, change)

    def _is_key(self, ref: e.ColumnRef) -> bool:
        return len(ref.parts) == 1 and ref in self._keys


def _parameter(span: Span, *names: str) -> e.ColumnRef:
    return e.ColumnRef(span, tuple(Name(span, name) for name in names))


def keys_of(given: ProgramInput) -> tuple[ProgramKey, ...]:
    """Return the keys of a program with one input, by the names of its columns."""
    return tuple(ProgramKey(last_part(key.expression), key.type) for key in given.keys)


def last_part(expression: e.Expression) -> str:
    """Return the last part of a column's name."""
    assert isinstance(expression, e.ColumnRef)
    return expression.parts[-1].text
