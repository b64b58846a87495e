"""What the cells of a query's program compute: such a cell is named after a column.

`SUM(v) AS x` keeps its sum in a cell called `x`. If the next version calls it `total`, nothing
changes; if `x` becomes `MAX(v)`, it is another cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....contracts.plan import Program, ProgramCell
from ....dsl.ast.expressions import Binary, Call, Expression, Interval, Lambda
from ....dsl.ast.node import Node
from ....dsl.ast.walk import rewrite
from ...model.intervals import interval_micros
from ..texts.lines import assigned, renamed

_OWN = "·"
_FORGET = "forget"
"""The timer that goes off when the longest frame has passed all rows of a key."""
_ROWS = "__rows"
"""The suffix of the name of a cell with the rows of a column."""


def folds(entry: Program, name: str) -> tuple[str, ...]:
    """Return the statements that set a cell, without its name."""
    begins = f"set {name} = "
    lines = (line.strip() for line in entry.statements or ())
    own = (renamed(line, {name: _OWN}) for line in lines if line.startswith(begins))
    return tuple(line.replace(f"`{_OWN}`", _OWN) for line in own)


def same_columns(old: Program, new: Program) -> dict[str, str]:
    """Return the new name of each renamed cell of a query that computes the same."""
    after = {cell.id for cell in new.cells}
    free = [cell for cell in old.cells if cell.id not in after]
    found: dict[str, str] = {}
    for cell in new.cells:
        name = cell.id
        if any(one.id == name for one in old.cells):
            continue
        for one in free:
            alike = folds(old, one.id) == folds(new, name) and folds(new, name)
            if alike and one.type == cell.type and one.id not in found:
                found[one.id] = name
                break
    return found


def is_another(old: Program, new: Program, cell: ProgramCell) -> bool:
    """Whether a cell of a query computes something else under its name.

    Kept rows are the same, whatever is computed from them and however long they are kept.
    """
    if (cell.type or "").startswith("ARRAY<"):
        return False
    return folds(old, cell.id) != folds(new, cell.id)


def same_statements(old: Program, new: Program, names: Mapping[str, str]) -> bool:
    """Whether the statements are the same except for the names of columns."""
    return _as_called(old, names) == list(new.statements or ())


def narrower_frames(old: Program, new: Program, names: Mapping[str, str]) -> bool:
    """Whether the statements are the same except for names and shorter time frames.

    A frame reads kept rows by their instants: those it no longer reads are still there, and are
    removed at the next row.
    """
    before, after = _as_called(old, names), new.statements or ()
    return len(before) == len(after) and all(
        _is_narrower(was, now) for was, now in zip(before, after, strict=True)
    )


def _is_narrower(was: str, now: str) -> bool:
    if was == now:
        return True
    old, new = _timed(was), _timed(now)
    return old is not None and new is not None and old[0] == new[0] and new[1] <= old[1]


def _timed(line: str) -> tuple[tuple[str, Expression], int] | None:
    """Return a statement without the length of its frame, and that; None of other statements."""
    head, _, _ = line.partition(" = ")
    target = head.strip().removeprefix("set ")
    rows = assigned(line, target) if target.endswith(_ROWS) else None
    until = assigned(line, _FORGET)
    length = _frame(rows) if rows is not None else _added(until)
    tree = rows or until
    micros = None if length is None else interval_micros(length)
    if tree is None or length is None or micros is None:
        return None
    return (head if rows is not None else _FORGET, _without(tree, length)), micros


def _frame(rows: Expression) -> Interval | None:
    """Return how long the rows are kept that a frame of time has not passed.

    That is `concat(coalesce(filter(rows, row -> row.at >= instant - INTERVAL …), array()), …)`.
    """
    match rows:
        case Call(
            arguments=(
                Call(
                    arguments=(
                        Call(
                            arguments=(
                                _,
                                Lambda(
                                    body=Binary(
                                        operator=">=",
                                        right=Binary(operator="-", right=Interval() as length),
                                    )
                                ),
                            )
                        ),
                        _,
                    )
                ),
                _,
            )
        ):
            return length
    return None


def _added(until: Expression | None) -> Interval | None:
    """Return after how long the longest frame has passed all rows of a key."""
    match until:
        case Binary(operator="+", right=Interval() as length):
            return length
    return None


def _without(tree: Expression, length: Interval) -> Expression:
    def change(node: Node) -> Node | None:
        return replace(length, parts=()) if node is length else None

    return rewrite(tree, change)


def _as_called(entry: Program, names: Mapping[str, str]) -> list[str]:
    """Return the statements with the other version's names of columns."""
    known = dict(names)
    for was, now in names.items():
        if was.endswith(_ROWS) and now.endswith(_ROWS):
            known[was.removesuffix(_ROWS)] = now.removesuffix(_ROWS)
    return [renamed(line, known) for line in entry.statements or ()]
