"""What rows are computed from: rows of what is below, and each column in its terms.

Projections are substituted and filters collected down to the next stateful step or source, so that
an intermediate stream that only passes rows on, or renames a column, changes nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol, TypeAlias

from ....contracts.records import dataclass
from ....dsl.ast.expressions import ColumnRef, Expression, FieldAccess
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import rewrite
from ....dsl.format import sql
from ....dsl.reports.source import Span
from ...model.same import canonical
from ...model.steps import Step
from .columns import Columns

_NOWHERE = Span(0, 0)

Terms: TypeAlias = Mapping[tuple[str, ...], Expression]
"""The terms of each column, by its name or by an alias and its name."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Rows of a single source or stateful step below, and what was done to each.

    ``where`` are the conditions they passed, including look-ups in tables, as canonical text.
    """

    below: str
    where: tuple[str, ...]
    terms: Terms

    def text(self, expression: Expression) -> str:
        """Return the canonical text of an expression over these rows, in terms of what is below."""
        return sql(canonical(substitute(expression, self.terms)))

    def filtered(self, *conditions: str) -> Branch:
        """Return the rows that pass more conditions."""
        return replace(self, where=(*self.where, *conditions))

    def called(self, terms: Terms) -> Branch:
        """Return the rows with these columns."""
        return replace(self, terms=terms)


Branches: TypeAlias = tuple[Branch, ...]
"""The rows of a relation: several branches where a union is below."""


class Upstream(Protocol):
    """Sources and relations by name, for a step that reads them."""

    def of(self, name: str) -> Branches:
        """Return the origins of its rows."""

    def columns(self, name: str) -> Columns:
        """Return its columns."""


class Place(Upstream, Protocol):
    """The position of a stateful step."""

    @property
    def stream(self) -> str:
        """The stream that it is written in."""

    @property
    def begins(self) -> bool:
        """Whether its relation begins with it."""

    def before(self, without: tuple[type[Step], ...] = ()) -> Branches:
        """Return the rows that reach it, leaving out steps of these classes."""

    def columns_before(self) -> Columns:
        """Return the columns of the rows that reach it."""

    def code(self, target: str) -> str | None:
        """Return the digest of the code of ``module:name``, None where it is not found."""


def reference(*names: str) -> ColumnRef:
    """Return a reference to a column."""
    return ColumnRef(_NOWHERE, tuple(Name(_NOWHERE, name) for name in names))


def by_name(names: Iterable[str]) -> dict[tuple[str, ...], Expression]:
    """Return the terms of columns that stand for themselves."""
    return {(name,): reference(name) for name in names}


def substitute(expression: Expression, terms: Terms) -> Expression:
    """Return an expression with columns replaced by their terms."""

    def change(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef):
            return None
        names = tuple(part.text for part in node.parts)
        for length in range(len(names), 0, -1):
            found = terms.get(names[:length])
            if found is not None:
                return _field(found, node.parts[length:])
        return None

    return rewrite(expression, change)


def _field(owner: Expression, fields: Iterable[Name]) -> Expression:
    for field in fields:
        if isinstance(owner, ColumnRef):
            owner = ColumnRef(_NOWHERE, (*owner.parts, field))
        else:
            owner = FieldAccess(_NOWHERE, owner, field)
    return owner


def prefixed(expression: Expression, word: str) -> Expression:
    """Return an expression with its columns qualified by an alias."""

    def change(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef):
            return None
        return ColumnRef(_NOWHERE, (Name(_NOWHERE, word), *node.parts))

    return rewrite(expression, change)
