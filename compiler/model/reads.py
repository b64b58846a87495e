"""What an expression of a program reads: nodes that print as the syntax they derive from.

A resolved expression is a syntax tree. In a program a name alone would not say what is read: a
column of the row, a key, a local, or state, where reading one entry must not cost the whole map. So
each read other than a column is a node of a class of its own, derived from the corresponding syntax
node: printing, traversal and substitution are those of the base, the class says what is read, and
two reads are equal only if their classes are.

    balance, visit.at   CellRef       a whole cell: its value or a field of it, a map, set or list
    visits[url]         EntryRef      one entry of a map, NULL when there is none
    contains(seen, id)  ContainsCall  whether a map or set has one entry
    size(lines)         SizeCall      how many entries a map, set or list has
    n                   LocalRef      what DECLARE or FOR has named
    order_id            KeyRef        a key, by the name that it has in the first input
    deadline            InstantRef    the instant that the timer was set for whose handler this is
    watermark(), now()  WatermarkCall, NowCall
    watermark_before()  WatermarkBeforeCall: that of the epoch before, which no user can write

A plain ``ColumnRef`` is a column of the current row, ``alias.column`` where the bare name is
ambiguous. All heads of names in a handler differ, so the printed text is exact too; only a lambda
hides a name by a parameter of its own, as in Spark. Keys of entries may be any expression,
including reads and parameters of a lambda: an entry is read when its value is needed, not before
(``CASE WHEN n <> 0 THEN m[10 / n] END``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...contracts.records import dataclass
from ...dsl.ast.expressions import Call, ColumnRef, Expression, Index
from ...dsl.ast.node import Node
from ...dsl.ast.walk import children, walk


@dataclass(frozen=True, slots=True)
class CellRef(ColumnRef):
    """A whole cell of state, or a field of its value; sets are read in the order of values."""


@dataclass(frozen=True, slots=True)
class KeyRef(ColumnRef):
    """A key, by its name."""


@dataclass(frozen=True, slots=True)
class LocalRef(ColumnRef):
    """A local of DECLARE or FOR."""


@dataclass(frozen=True, slots=True)
class InstantRef(ColumnRef):
    """The instant of the timer whose handler this is."""


@dataclass(frozen=True, slots=True)
class EntryRef(Index):
    """An entry of a map; ``operand`` is the ``CellRef`` of the map."""


@dataclass(frozen=True, slots=True)
class ContainsCall(Call):
    """``contains(cell, key)``: the first argument is the ``CellRef`` of a map or set."""


@dataclass(frozen=True, slots=True)
class SizeCall(Call):
    """``size(cell)``: the argument is the ``CellRef`` of a map, set or list."""


@dataclass(frozen=True, slots=True)
class WatermarkCall(Call):
    """``watermark()``: that of the epoch, NULL before there is one."""


@dataclass(frozen=True, slots=True)
class WatermarkBeforeCall(Call):
    """``watermark_before()``: that of the previous epoch, which decides which rows are late."""


@dataclass(frozen=True, slots=True)
class NowCall(Call):
    """``now()``: the processing time."""


def cells_read(expression: Expression) -> Iterator[str]:
    """Yield the names of the cells that an expression reads, whole or by entry."""
    for node in walk(expression):
        if isinstance(node, CellRef):
            yield node.parts[0].text


def whole_cells_read(expression: Expression) -> Iterator[str]:
    """Yield the names of the cells that must be read whole for an expression."""
    waiting: list[Node] = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, CellRef):
            yield node.parts[0].text
        waiting += _parts(node)


def _parts(node: Node) -> list[Node]:
    """Return the children of a node except the cell of which it reads an entry."""
    match node:
        case EntryRef(index=index):
            return [index]
        case ContainsCall(arguments=arguments) | SizeCall(arguments=arguments):
            return list(arguments[1:])
    return children(node)


def locals_read(expression: Expression) -> Iterator[str]:
    """Yield the names of the locals that an expression reads."""
    for node in walk(expression):
        if isinstance(node, LocalRef):
            yield node.parts[0].text


def columns_read(expression: Expression, alias: str) -> Iterator[str]:
    """Yield the columns of the current row that an expression reads."""
    for node in walk(expression):
        if type(node) is ColumnRef:
            parts = [part.text for part in node.parts]
            yield parts[1] if len(parts) > 1 and parts[0] == alias else parts[0]
