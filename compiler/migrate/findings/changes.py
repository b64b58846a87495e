"""What the runtime does to obtain the state of an operator: its parts, and what each reads."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ....contracts.migration import CellChange, Made, OperatorChange, WindowChange
from ....dsl.ast.expressions import ColumnRef, Lambda
from ....dsl.ast.walk import walk
from ..texts.parsing import parsed_expression


def change(
    id_: str,
    kind: str,
    old: str | None,
    where: str | None = None,
    *,
    keys: Iterable[Made] = (),
    window: WindowChange | None = None,
    group: bool = False,
    cells: Iterable[CellChange] = (),
) -> OperatorChange:
    """Return the change of an operator; one without an ``old`` one begins empty."""
    return OperatorChange(
        id=id_,
        kind=kind,
        old=old,
        where=where,
        where_reads=() if where is None else reads_of(where),
        keys=tuple(keys),
        window=window,
        group=group,
        cells=tuple(cells),
    )


def made_part(name: str, expression: str) -> Made:
    """Return a key, column or timer computed by an expression."""
    return Made(name, expression, reads_of(expression))


def made_cell(
    id_: str, expression: str, merge: str | None = None, of: str | None = None
) -> CellChange:
    """Return a cell computed by an expression."""
    return CellChange(id_, expression, reads_of(expression), merge=merge, of=of)


@cache
def reads_of(expression: str) -> tuple[str, ...]:
    """Return the columns that an expression reads, each once.

    >>> reads_of("coalesce(`sum(v).sum`, CAST(0 AS BIGINT)) + transform(a, x -> x + b)")
    ('sum(v).sum', 'a', 'b')
    """
    tree = parsed_expression(expression)
    if tree is None:
        raise ValueError(f"no expression: {expression}")
    nodes = list(walk(tree))
    bound = {one.text for node in nodes if isinstance(node, Lambda) for one in node.parameters}
    names = (node.parts[0].text for node in nodes if isinstance(node, ColumnRef))
    return tuple(dict.fromkeys(name for name in names if name not in bound))
