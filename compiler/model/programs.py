"""The program of an operator: its inputs, state, timers, and the statements of its handlers.

Expressions are resolved syntax trees whose reads of state are nodes of their own (``reads``); each
has the type of its target, by a CAST where necessary. Cells, timers, keys and locals are identified
by name: nothing depends on a position, so that state can be carried over to another version of a
program.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar

from ...contracts.records import dataclass
from .reads import columns_read
from .schema import Duration, Schema
from .steps import Stateful, Window
from .typed import Typed
from .types import Array, Map, Type


class CellKind(StrEnum):
    """The kind of a cell of state."""

    VALUE = "value"
    MAP = "map"
    SET = "set"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of state.

    ``type`` is its type when read whole: an ARRAY for a set or list. ``default`` is a value before
    it is set, NULL without one; maps, sets and lists begin empty. A value, or an entry of the
    others, is forgotten ``ttl`` of processing time after it was written.
    """

    name: str
    kind: CellKind
    type: Type
    default: Typed | None = None
    ttl: Duration | None = None

    @property
    def entry(self) -> Type:
        """The type that identifies an entry: key of a map, element of a set or list."""
        if self.kind is CellKind.VALUE:
            return self.type
        match self.type:
            case Map(key, _):
                return key
            case Array(element):
                return element
        return self.type


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer; starting it again moves it. ``processing`` is PROCESSING TIME."""

    name: str
    processing: bool


@dataclass(frozen=True, slots=True)
class ProgramKey:
    """A key of the state: its name in the first input, and its type."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class ProgramInput:
    """An input: the qualifier of its columns, and its keys in the order of the operator's.

    ``event_time`` is the column of its watermark, by which its rows are ordered; None without one.
    ``until`` is an instant of each row, which is late, and dropped, once the watermark has reached
    it.
    """

    relation: str
    alias: str
    schema: Schema
    keys: tuple[Typed, ...]
    event_time: str | None
    until: Typed | None = None


@dataclass(frozen=True, slots=True)
class Panes:
    """The panes that a program emits for a window: one when it closes, others before and after.

    ``early`` is how long after a row the next early pane follows, ``lateness`` how long after its
    end a window accepts rows; None for none.
    """

    window: Window
    early: Duration | None
    lateness: Duration | None


@dataclass(frozen=True, slots=True)
class ProgramStatement:
    """A statement of a handler."""


@dataclass(frozen=True, slots=True)
class SetCell(ProgramStatement):
    """Replace a value, or all entries of a map, set or list."""

    cell: str
    value: Typed


@dataclass(frozen=True, slots=True)
class KeepRows(SetCell):
    """SET of the rows of a frame, which the kernel stores one by one.

    ``value`` is the whole list: ``rows`` are added, then those whose first field is before
    ``since`` are dropped, or without it all but the ``last``.
    """

    rows: Typed
    since: Typed | None
    last: int


@dataclass(frozen=True, slots=True)
class SetLocal(ProgramStatement):
    """Assign a local."""

    name: str
    value: Typed


@dataclass(frozen=True, slots=True)
class Declare(ProgramStatement):
    """A local, to the end of its block."""

    name: str
    value: Typed


@dataclass(frozen=True, slots=True)
class DeclareRolled(Declare):
    """A local with an aggregate over such rows: ``rolled`` has the kernel's, which is ``value``."""

    rolled: Typed


@dataclass(frozen=True, slots=True)
class IfBranch:
    """A condition, and the statements executed if it is true."""

    condition: Typed
    body: tuple[ProgramStatement, ...]


@dataclass(frozen=True, slots=True)
class If(ProgramStatement):
    """The first branch whose condition is true, else ``otherwise``."""

    branches: tuple[IfBranch, ...]
    otherwise: tuple[ProgramStatement, ...]


@dataclass(frozen=True, slots=True)
class While(ProgramStatement):
    """A loop, of at most 10,000 iterations."""

    condition: Typed
    body: tuple[ProgramStatement, ...]


@dataclass(frozen=True, slots=True)
class For(ProgramStatement):
    """An iteration for each element of an array, as it is before the first."""

    variable: str
    type: Type
    values: Typed
    body: tuple[ProgramStatement, ...]


@dataclass(frozen=True, slots=True)
class Put(ProgramStatement):
    """Write one entry of a map."""

    cell: str
    key: Typed
    value: Typed


@dataclass(frozen=True, slots=True)
class Remove(ProgramStatement):
    """Remove one entry: of a map by its key, of a set the element itself."""

    cell: str
    key: Typed


@dataclass(frozen=True, slots=True)
class Add(ProgramStatement):
    """Put an element into a set."""

    cell: str
    value: Typed


@dataclass(frozen=True, slots=True)
class Append(ProgramStatement):
    """Append an element to a list."""

    cell: str
    value: Typed


@dataclass(frozen=True, slots=True)
class Clear(ProgramStatement):
    """Reset a cell to its initial content."""

    cell: str


@dataclass(frozen=True, slots=True)
class ClearState(ProgramStatement):
    """Clear all cells of the key; its timers stay as they are."""


@dataclass(frozen=True, slots=True)
class StartTimer(ProgramStatement):
    """Set a timer of the key, or move it."""

    timer: str
    at: Typed


@dataclass(frozen=True, slots=True)
class StopTimer(ProgramStatement):
    """Unset a timer of the key, if it is set."""

    timer: str


@dataclass(frozen=True, slots=True)
class Emit(ProgramStatement):
    """Emit a row: a value for each column of RETURNS."""

    values: tuple[Typed, ...]


@dataclass(frozen=True, slots=True)
class Handler:
    """The statements for a row of an input (``timer`` None), or for a timer that fires.

    ``name`` is the alias of the input, or the timer.
    """

    name: str
    body: tuple[ProgramStatement, ...]
    is_timer: bool = False


@dataclass(frozen=True, slots=True)
class Operator(Stateful):
    """A program for each key: from CREATE OPERATOR (``declared``) or from a query.

    ``ordered``: rows wait until the watermark has passed them. ``late_rows`` is the stream that
    gets later ones. ``python`` is the class (``module:Class``) that has the handlers instead. At
    most one column of ``returns`` is an event time: the first that is, in each EMIT, the event time
    of the row or the instant of the timer. ``panes`` are those of a window that it aggregates; the
    last of its keys is that window.
    """

    kind: ClassVar[str] = "operator"
    keys: tuple[ProgramKey, ...]
    inputs: tuple[ProgramInput, ...]
    ordered: bool
    late_rows: str | None
    cells: tuple[Cell, ...]
    timers: tuple[Timer, ...]
    returns: Schema
    handlers: tuple[Handler, ...]
    python: str | None = None
    declared: bool = False
    panes: Panes | None = None


def statements(body: tuple[ProgramStatement, ...]) -> Iterator[ProgramStatement]:
    """Yield statements and those nested in them, in the order of the text."""
    for statement in body:
        yield statement
        match statement:
            case If(branches, otherwise):
                for branch in branches:
                    yield from statements(branch.body)
                yield from statements(otherwise)
            case While(body=inner) | For(body=inner):
                yield from statements(inner)


def expressions(statement: ProgramStatement) -> tuple[Typed, ...]:
    """Return the expressions of a statement, without those of nested statements."""
    match statement:
        case SetCell(value=value) | SetLocal(value=value) | Declare(value=value):
            return (value,)
        case If(branches=branches):
            return tuple(branch.condition for branch in branches)
        case While(condition=condition):
            return (condition,)
        case For(values=values):
            return (values,)
        case Put(key=key, value=value):
            return (key, value)
        case Remove(key=key):
            return (key,)
        case Add(value=value) | Append(value=value):
            return (value,)
        case StartTimer(at=at):
            return (at,)
        case Emit(values=values):
            return values
    return ()


def cell_written(statement: ProgramStatement) -> str | None:
    """Return the cell to which a statement writes."""
    match statement:
        case SetCell(cell=cell) | Put(cell=cell) | Add(cell=cell) | Append(cell=cell):
            return cell
    return None


def frames_kept(operator: Operator) -> frozenset[str]:
    """Return the cells whose rows the kernel stores one by one."""
    body = (one for handler in operator.handlers for one in statements(handler.body))
    return frozenset(one.cell for one in body if isinstance(one, KeepRows))


def cell_emptied(statement: ProgramStatement) -> str | None:
    """Return the cell from which a statement removes something, except CLEAR STATE."""
    match statement:
        case Clear(cell=cell) | Remove(cell=cell):
            return cell
    return None


def columns_used(operator: Operator, given: ProgramInput) -> tuple[str, ...]:
    """Return the columns of an input that keys, order and handlers need."""
    if operator.python is not None:
        return given.schema.names()
    used = {name for key in given.keys for name in columns_read(key.expression, given.alias)}
    used |= {given.event_time} if given.event_time is not None else set()
    for handler in operator.handlers:
        if handler.is_timer or handler.name != given.alias:
            continue
        for statement in statements(handler.body):
            for value in expressions(statement):
                used.update(columns_read(value.expression, given.alias))
    return tuple(name for name in given.schema.names() if name in used)


def kept_for_good(operator: Operator) -> tuple[Cell, ...]:
    """Return the cells that are written and that neither time nor a handler clears."""
    body = [one for handler in operator.handlers for one in statements(handler.body)]
    if any(isinstance(one, ClearState) for one in body):
        return ()
    written = {name for one in body if (name := cell_written(one)) is not None}
    emptied = {name for one in body if (name := cell_emptied(one)) is not None}
    # A program without keys has a single value per cell.
    return tuple(
        cell
        for cell in operator.cells
        if cell.ttl is None and cell.name in written - emptied
        if operator.keys or cell.kind is not CellKind.VALUE
    )
