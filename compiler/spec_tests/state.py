"""What a test expects of the state of an operator: its cells, timers and waiting rows by key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...dsl.yaml.nodes import Mapping, Node, Sequence
from ..model import types as t
from ..model.programs import Operator
from .diagnostics import Teller
from .expectations import read_expect
from .model import Column, Expect

WAITING = "waiting"
"""The column with the number of waiting rows of a key."""


def read_state(operator: Operator, node: Node, teller: Teller) -> Expect | None:
    """Return what is expected of an operator's state; None, with a diagnostic, if it is invalid.

    Every key with state must be given, with the cells that the test is about: those that any of the
    rows names.
    """
    columns = state_columns(operator)
    given = {name.lower() for name in _named(node)}
    keys = {key.name for key in operator.keys}
    looked = tuple(c for c in columns if c.name in keys or c.name.lower() in given)
    known = given <= {c.name.lower() for c in columns}
    found = read_expect(operator.id, looked if known else columns, node, teller)
    return None if found is None else replace(found, state=True)


def state_columns(operator: Operator) -> tuple[Column, ...]:
    """Return the columns of a key: the key, cells read whole, timers, waiting rows."""
    keys = [Column(key.name, key.type) for key in operator.keys]
    cells = [Column(cell.name, cell.type) for cell in operator.cells]
    timers = [Column(timer.name, t.TIMESTAMP) for timer in operator.timers]
    found = [*keys, *(c for c in (*cells, *timers) if c.name not in {k.name for k in keys})]
    if operator.ordered and WAITING not in {column.name for column in found}:
        found.append(Column(WAITING, t.BIGINT))
    return tuple(found)


def _named(node: Node) -> Iterable[str]:
    """Return the names used by the rows of a list, or of a mapping with one."""
    rows = node.get("rows") if isinstance(node, Mapping) else node
    if not isinstance(rows, Sequence):
        return []
    return [key.text for row in rows if isinstance(row, Mapping) for key, _ in row]
