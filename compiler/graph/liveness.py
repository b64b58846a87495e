"""Which columns a query needs at each of its steps, and so what its state holds.

A walk up from the sink, in which each kind of step says what it needs from the rows below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...contracts.records import dataclass
from ..model.graph import StateUse
from ..model.pipeline import Pipeline, Relation
from ..model.steps import Stateful, Step
from ..operators.registry import operator_kind, root_kind, row_kind
from ..operators.rows.columns import Columns, columns_of
from ..operators.rows.needed import Demand, Feed, named


@dataclass(frozen=True, slots=True)
class Visit:
    """A step visited in a query: its relation, and what is needed of its output.

    For a source there is no step, and ``relation`` is its name.
    """

    relation: str
    step: Step | None
    demand: Demand


def state_uses(name: str, pipeline: Pipeline) -> Iterator[StateUse]:
    """Yield the stateful steps of the query that writes a whole relation, in Spark's order."""
    for visit in visits(name, pipeline):
        if isinstance(visit.step, Stateful):
            yield operator_kind(visit.step).use(visit.step, visit.demand)


def visits(name: str, pipeline: Pipeline) -> Iterator[Visit]:
    """Yield the steps of the query that writes a whole relation, from the sink up.

    What is read twice is visited twice.
    """
    walk = _Walk(pipeline)
    relation = walk.relations.get(name)
    if relation is not None:
        yield from walk.through(relation, Demand(named(relation.schema.names())))


class _Walk:
    """A walk over the relations of a pipeline."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.relations = {relation.name: relation for relation in pipeline.relations}
        self._pipeline = pipeline

    def through(self, relation: Relation, demand: Demand) -> Iterator[Visit]:
        """Yield the steps of a relation from last to first, and what is below."""
        root = root_kind(relation.steps)
        if root is None:
            yield from self._feed(relation, Feed(relation.inputs[0], demand, relation.steps))
            return
        first = relation.steps[0]
        for step in reversed(relation.steps[1:]):
            yield Visit(relation.name, step, demand)
            demand = row_kind(step).needs(step, demand)
        yield Visit(relation.name, first, demand)
        for feed in root.feeds(first, demand, self._columns):
            yield from self._feed(relation, feed)

    def _feed(self, relation: Relation, feed: Feed) -> Iterator[Visit]:
        demand = feed.demand
        for step in reversed(feed.steps):
            yield Visit(relation.name, step, demand)
            demand = row_kind(step).needs(step, demand)
        yield from self._named(feed.relation, demand)

    def _named(self, name: str, demand: Demand) -> Iterator[Visit]:
        # The steps below do not see which columns are read by a condition only.
        demand = Demand(demand.whole)
        relation = self.relations.get(name)
        if relation is None:
            yield Visit(name, None, demand)
        else:
            yield from self.through(relation, demand)

    def _columns(self, name: str) -> Columns:
        return columns_of(self._pipeline.schema(name))
