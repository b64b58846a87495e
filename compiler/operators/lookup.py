"""A join with a table."""

from __future__ import annotations

from ...dsl.ast.expressions import Expression
from ...dsl.format import sql
from ..model.steps import Lookup
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .kind import RowKind
from .rows.columns import Columns
from .rows.identity import Identity
from .rows.needed import Demand, references
from .rows.origins import Branch, Branches, reference

_JOIN, _ON = "JOIN", "ON"
"""The words in the condition of a look-up, before and after the table."""


class LookupKind(RowKind[Lookup]):
    """Each row with the current rows of a table."""

    step = Lookup

    def lines(self, step: Lookup) -> list[str]:
        left = f"{step.left} " if step.left is not None else ""
        lines = [f"{step.join} lookup {left}in {step.table} as {step.alias}"]
        return [*lines, f"  on {sql(step.condition.expression)}"]

    def words(self, step: Lookup) -> str:
        return f"{step.join} lookup in {step.table}"

    def reads(self, step: Lookup, heads: frozenset[str]) -> tuple[Expression]:
        return (step.condition.expression,)

    def windows(self, step: Lookup) -> tuple[()]:
        return ()

    def identity(self, step: Lookup, before: Identity | None) -> None:
        return None

    def script(self, step: Lookup, rows: Chain) -> Chain:
        arguments = (
            f"{step.table}.alias({quoted(step.alias)})",
            columns.on(step.condition.expression),
            quoted(step.join),
        )
        if step.left is not None:
            rows = rows.then(Call("alias", (quoted(step.left),)))
        return rows.then(Call("join", arguments, open=True))

    def columns(self, step: Lookup, before: Columns) -> Columns:
        return {}

    def needs(self, step: Lookup, demand: Demand) -> Demand:
        """Return what is needed of rows that already have their alias, or get it here."""
        wanted = demand.whole | references([step.condition.expression])
        if step.left is None:
            return Demand(wanted)
        own = (parts for parts in wanted if len(parts) > 1 and parts[0] == step.left)
        return Demand(frozenset(parts[1:] for parts in own))

    def branches(self, step: Lookup, before: Branches) -> Branches:
        return tuple(_looked_up(step, branch) for branch in before)


def _looked_up(step: Lookup, branch: Branch) -> Branch:
    terms = dict(branch.terms)
    if step.left is not None:
        terms = {(step.left, *names): value for names, value in terms.items()}
    terms |= {(step.alias, name): reference(step.table, name) for name in step.schema.names()}
    seen = branch.called(terms)
    condition = seen.text(step.condition.expression)
    return seen.filtered(f"{step.join.upper()} {_JOIN} {step.table} {_ON} {condition}")


def table_of(condition: str) -> str | None:
    """Return the table in which rows were looked up by a condition; None for any other.

    >>> table_of("LEFT JOIN cards ON id = cards.id"), table_of("v > 1")
    ('cards', None)
    """
    kind, _, rest = condition.partition(f" {_JOIN} ")
    name, on, _ = rest.partition(f" {_ON} ")
    return name if on and " " not in kind else None
