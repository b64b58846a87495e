"""WHERE and HAVING."""

from __future__ import annotations

from ...dsl.ast.expressions import Expression
from ...dsl.format import sql
from ..model.conditions import conjuncts
from ..model.same import canonical
from ..model.steps import Filter
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from .kind import RowKind
from .rows.columns import Columns
from .rows.identity import Identity
from .rows.needed import Demand
from .rows.origins import Branches, substitute


class FilterKind(RowKind[Filter]):
    """The rows for which a condition is true."""

    step = Filter

    def lines(self, step: Filter) -> list[str]:
        return [f"filter {sql(step.condition.expression)}"]

    def words(self, step: Filter) -> str:
        return "filter"

    def reads(self, step: Filter, heads: frozenset[str]) -> tuple[Expression]:
        return (step.condition.expression,)

    def windows(self, step: Filter) -> tuple[()]:
        return ()

    def identity(self, step: Filter, before: Identity | None) -> Identity | None:
        return before

    def script(self, step: Filter, rows: Chain) -> Chain:
        return rows.then(Call("where", (columns.condition(step.condition.expression),)))

    def columns(self, step: Filter, before: Columns) -> Columns:
        return before

    def needs(self, step: Filter, demand: Demand) -> Demand:
        return Demand(demand.whole, (step.condition.expression,))

    def branches(self, step: Filter, before: Branches) -> Branches:
        condition = step.condition.expression
        return tuple(
            branch.filtered(
                *(sql(canonical(part)) for part in conjuncts(substitute(condition, branch.terms)))
            )
            for branch in before
        )
