"""UNNEST: a row for each element of an array."""

from __future__ import annotations

from ...dsl.ast.expressions import Call as FunctionCall
from ...dsl.ast.expressions import ColumnRef, Expression
from ...dsl.ast.node import Name
from ...dsl.format import sql
from ...dsl.reports.source import Span
from ..model import types
from ..model.steps import Unnest
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .kind import RowKind
from .rows.columns import Columns
from .rows.identity import Identity
from .rows.needed import Demand
from .rows.origins import Branches, substitute

_NOWHERE = Span(0, 0)


class UnnestKind(RowKind[Unnest]):
    """Each row with the elements of one of its arrays, one at a time."""

    step = Unnest

    def lines(self, step: Unnest) -> list[str]:
        kept = ", or NULL" if step.outer else ""
        return [f"unnest {sql(step.array.expression)} as {step.column} {step.element}{kept}"]

    def words(self, step: Unnest) -> str:
        array = step.array.expression
        whose = f" of {sql(array)}" if isinstance(array, ColumnRef) else ""
        return f"a row for each element{whose}"

    def reads(self, step: Unnest, heads: frozenset[str]) -> tuple[Expression]:
        return (step.array.expression,)

    def windows(self, step: Unnest) -> tuple[()]:
        return ()

    def identity(self, step: Unnest, before: Identity | None) -> None:
        return None

    def script(self, step: Unnest, rows: Chain) -> Chain:
        array = columns.argument(step.array.expression)
        if isinstance(step.array.type, types.Map):
            array = f"F.map_entries({array})"
        function = "explode_outer" if step.outer else "explode"
        element = f"F.{function}({array}).alias({quoted(step.column)})"
        return rows.then(Call("select", ('"*"', element)))

    def columns(self, step: Unnest, before: Columns) -> Columns:
        return {**before, step.column: step.element}

    def needs(self, step: Unnest, demand: Demand) -> Demand:
        others = frozenset(parts for parts in demand.whole if parts[0] != step.column)
        return Demand(others, (step.array.expression,))

    def branches(self, step: Unnest, before: Branches) -> Branches:
        found = []
        for branch in before:
            array = substitute(step.array.expression, branch.terms)
            element = FunctionCall(_NOWHERE, Name(_NOWHERE, "unnest"), (array,))
            kind = "LEFT" if step.outer else "CROSS"
            rows = branch.filtered(f"{kind} JOIN UNNEST({branch.text(step.array.expression)})")
            found.append(rows.called({**branch.terms, (step.column,): element}))
        return tuple(found)
