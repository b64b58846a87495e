"""What the readers of rows need of them.

A column is needed as a reference, the texts of its parts. What the parts mean (a column, a
qualified column, a field of a struct) is decided where they are used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ....contracts.records import dataclass
from ....dsl.ast.expressions import ColumnRef, Expression
from ....dsl.ast.walk import walk
from ...model.steps import Step

Needed: TypeAlias = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Demand:
    """What is needed of the rows that a step emits.

    ``conditions`` are those of a filter directly above: Spark evaluates them before the rows of a
    join wait, where it can, so ``columns`` excludes those that only they read.
    """

    columns: Needed
    conditions: tuple[Expression, ...] = ()

    @property
    def whole(self) -> Needed:
        """All that is needed, by conditions and by later steps."""
        return self.columns | references(self.conditions)

    @property
    def heads(self) -> frozenset[str]:
        """The columns that are needed whole or in part."""
        return frozenset(parts[0] for parts in self.whole)


@dataclass(frozen=True, slots=True)
class Feed:
    """Rows that a step reads itself: those of a relation, after some steps.

    ``demand`` is what is needed of them after these.
    """

    relation: str
    demand: Demand
    steps: tuple[Step, ...] = ()


def references(expressions: Iterable[Expression]) -> Needed:
    """Return the columns that expressions read."""
    return frozenset(
        tuple(part.text for part in node.parts)
        for expression in expressions
        for node in walk(expression)
        if isinstance(node, ColumnRef)
    )


def named(names: Iterable[str]) -> Needed:
    """Return columns as needed by their names."""
    return frozenset((name,) for name in names)
