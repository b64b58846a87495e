"""What is needed of rows by those who read them.

A column is needed as a reference, the texts of its parts. What the parts mean (a column, a column
behind an alias, a field of a struct) is decided where they are used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ....contracts.records import dataclass
from ....dsl.ast.expressions import ColumnRef, Expression
from ....dsl.walk import walk
from ...model.steps import Step

Needed: TypeAlias = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Demand:
    """What is needed of the rows that a step gives.

    ``conditions`` are those of a filter right above: Spark asks them before the rows of a join
    wait, where it can, so that ``columns`` has none that they alone read.
    """

    columns: Needed
    conditions: tuple[Expression, ...] = ()

    @property
    def whole(self) -> Needed:
        """All that is needed, by conditions and for what comes after them."""
        return self.columns | references(self.conditions)

    @property
    def heads(self) -> frozenset[str]:
        """The columns of which all or a part is needed."""
        return frozenset(parts[0] for parts in self.whole)


@dataclass(frozen=True, slots=True)
class Feed:
    """Rows that a step reads by itself: those of a relation, when they have passed steps.

    ``demand`` is what is needed of them then.
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
