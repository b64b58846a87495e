"""What the cells of a query's program compute: such a cell has the name of a column, not its own.

`SUM(v) AS x` keeps its sum in a cell called `x`. That the next version calls it `total` changes
nothing, and that `x` is `MAX(v)` from then on makes another cell of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...contracts.plan import Program, ProgramCell
from .lengths import micros

_OWN = "·"
_ROWS = "__rows"
"""What the cell of a column that is computed from rows is called behind the column's name."""

_FRAME = re.compile(
    r"(?P<before> *set .+__rows = concat\(coalesce\(filter\(.+, row -> row\..+ >= instant - )"
    r"INTERVAL (?P<length>\d+ [A-Z]+)(?P<after>\), array\(\)\), .+)"
)
"""Where a frame of time leaves out the rows that it has passed."""
_FORGET = re.compile(
    r"(?P<before> *start timer forget at .+ \+ )INTERVAL (?P<length>\d+ [A-Z]+)(?P<after>)"
)
"""When the longest frame has passed all rows of a key."""


def folds(entry: Program, name: str) -> tuple[str, ...]:
    """Return the statements that set a cell, without its name."""
    begins = f"set {name} = "
    lines = (line.strip() for line in entry.statements or ())
    return tuple(_renamed(line, {name: _OWN}) for line in lines if line.startswith(begins))


def same_columns(old: Program, new: Program) -> dict[str, str]:
    """Return the new name of each cell of a query that computes the same under another one."""
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

    Rows that are kept are what they were, whatever is computed from them and however long they are
    kept.
    """
    if (cell.type or "").startswith("ARRAY<"):
        return False
    return folds(old, cell.id) != folds(new, cell.id)


def same_statements(old: Program, new: Program, names: Mapping[str, str]) -> bool:
    """Whether the statements are the same ones but for the names of columns."""
    return _as_called(old, names) == list(new.statements or ())


def narrower_frames(old: Program, new: Program, names: Mapping[str, str]) -> bool:
    """Whether the statements are the same ones but for names and shorter frames of time.

    A frame reads the rows that are kept by their instants: those that it reads no more are there,
    and go at the next row.
    """
    before, after = _as_called(old, names), new.statements or ()
    return len(before) == len(after) and all(
        was == now or _is_narrower(was, now) for was, now in zip(before, after, strict=True)
    )


def _is_narrower(was: str, now: str) -> bool:
    for shape in (_FRAME, _FORGET):
        old, new = shape.fullmatch(was), shape.fullmatch(now)
        if old is not None and new is not None:
            alike = old["before"] == new["before"] and old["after"] == new["after"]
            return alike and micros(new["length"]) <= micros(old["length"])
    return False


def _as_called(entry: Program, names: Mapping[str, str]) -> list[str]:
    """Return the statements with columns as they are called in the other version."""
    known = dict(names)
    for was, now in names.items():
        if was.endswith(_ROWS) and now.endswith(_ROWS):
            known[was.removesuffix(_ROWS)] = now.removesuffix(_ROWS)
    return [_renamed(line, known) for line in entry.statements or ()]


def _renamed(line: str, names: Mapping[str, str]) -> str:
    if not names:
        return line
    words: Sequence[str] = sorted(map(re.escape, names), key=len, reverse=True)
    return re.sub(rf"(?<![\w.`])({'|'.join(words)})(?![\w`])", lambda m: names[m[1]], line)
