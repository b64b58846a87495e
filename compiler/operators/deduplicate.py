"""DISTINCT ON."""

from __future__ import annotations

from collections.abc import Iterator

from ...contracts import plan
from ...dsl.ast.expressions import Expression
from ..model.graph import StateUse
from ..model.steps import Deduplicate
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .entries import branch_entry, key_entry
from .kind import OperatorKind, RowKind
from .rows.columns import Columns
from .rows.identity import Identity, by_columns
from .rows.needed import Demand, references
from .rows.origins import Branch, Branches, Place


class DeduplicateKind(RowKind[Deduplicate], OperatorKind[Deduplicate]):
    """The first row of each key, which is remembered for a while."""

    step = Deduplicate

    def lines(self, step: Deduplicate) -> list[str]:
        keys = ", ".join(key.name for key in step.keys)
        return [f"deduplicate {step.id} by {keys} within {step.within}"]

    def words(self, step: Deduplicate) -> str:
        return f"first row of each {', '.join(k.name for k in step.keys)} within {step.within}"

    def says(self, step: Deduplicate) -> tuple[()]:
        return ()

    def reads(self, step: Deduplicate, heads: frozenset[str]) -> Iterator[Expression]:
        return (key.value.expression for key in step.keys)

    def identity(self, step: Deduplicate, before: Identity | None) -> Identity:
        return by_columns(key.name for key in step.keys)

    def columns(self, step: Deduplicate, before: Columns) -> Columns:
        return before

    def needs(self, step: Deduplicate, demand: Demand) -> Demand:
        return Demand(demand.whole | references(key.value.expression for key in step.keys))

    def branches(self, step: Deduplicate, before: Branches) -> Branches:
        return (Branch(step.id, (), before[0].terms),)

    def use(self, step: Deduplicate, demand: Demand) -> StateUse:
        return StateUse(step)

    def describe(self, step: Deduplicate, place: Place) -> plan.Deduplication:
        keys = [(key.name, key.value.expression) for key in step.keys]
        return plan.Deduplication(
            id=step.id,
            stream=place.stream,
            keys=tuple(map(key_entry, step.keys)),
            within=step.within.text,
            input=tuple(branch_entry(branch, keys=keys) for branch in place.before()),
        )

    def describe_use(self, step: Deduplicate, use: StateUse) -> plan.Use:
        return plan.Use(step.id)

    def kept(self, step: Deduplicate, use: StateUse) -> tuple[()]:
        return ()

    def script(self, step: Deduplicate, rows: Chain) -> Chain:
        keys = ", ".join(quoted(key.name) for key in step.keys)
        return rows.then(Call("dropDuplicatesWithinWatermark", (f"[{keys}]",)))
