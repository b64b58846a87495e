"""Rows that a source filters out."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.format import sql
from ..model.pipeline import Relation
from ..model.steps import SideRows
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from ..pyspark.variables import unfiltered
from .kind import RootKind
from .rows.columns import Columns, ColumnsOf, columns_of
from .rows.identity import Identity
from .rows.needed import Demand, Feed
from .rows.origins import Branch, Branches, Upstream, by_name


class SideRowsKind(RootKind[SideRows]):
    """A side stream: the rows of a source that are malformed, or ahead of the clock."""

    step = SideRows

    def lines(self, step: SideRows) -> list[str]:
        condition = "" if step.condition is None else f": {sql(step.condition.expression)}"
        return [f"{step.policy} rows of {step.source}{condition}"]

    def words(self, step: SideRows) -> str:
        if step.policy == "malformed":
            return f"malformed rows of {step.source}"
        return f"rows of {step.source} that are ahead of the clock"

    def reads(self, step: SideRows, heads: frozenset[str]) -> tuple[()]:
        return ()

    def windows(self, step: SideRows) -> tuple[()]:
        return ()

    def identity(self, step: SideRows, before: Identity | None) -> None:
        return None

    def frame(self, step: SideRows) -> Chain:
        if step.condition is None:
            return Chain(Call("job.malformed_rows", (quoted(step.source),)))
        condition = columns.condition(step.condition.expression)
        return Chain(unfiltered(step.source), (Call("where", (condition,)),))

    def feeds(self, step: SideRows, demand: Demand, of: ColumnsOf) -> Iterator[Feed]:
        yield Feed(step.source, demand)

    def own_columns(self, step: SideRows, relation: Relation, upstream: Upstream) -> Columns:
        return columns_of(relation.schema)

    def own_branches(self, step: SideRows, relation: Relation, upstream: Upstream) -> Branches:
        terms = by_name(relation.schema.names())
        return (Branch(step.source, (f"{step.policy} rows",), terms),)
