"""What the rows of each relation are computed from, starting at its sources."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.pipeline import Pipeline, Relation
from ..model.steps import Stateful, Step
from ..operators.registry import root_kind
from ..operators.relation import branches_after, columns_after
from ..operators.rows.columns import Columns, columns_of
from ..operators.rows.origins import Branch, Branches, by_name, substitute


class Origins:
    """The origins of all relations of a pipeline."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._relations = {relation.name: relation for relation in pipeline.relations}
        self._sources = {source.name: source for source in pipeline.sources}
        self._known: dict[str, Branches] = {}

    def of(self, name: str) -> Branches:
        """Return the branches of a source or relation: several where a union is below."""
        if name not in self._known:
            relation = self._relations.get(name)
            self._known[name] = (
                self._source(name) if relation is None else self._through(relation, relation.steps)
            )
        return self._known[name]

    def columns(self, name: str) -> Columns:
        """Return the columns of a source or relation."""
        return columns_of(self._pipeline.schema(name))

    def before(
        self, relation: Relation, step: Stateful, without: tuple[type[Step], ...] = ()
    ) -> Branches:
        """Return the branches of the rows that reach a step over the rows of others.

        Steps of the classes ``without`` are left out.
        """
        steps = [one for one in _until(relation, step) if not isinstance(one, without)]
        return self._through(relation, steps)

    def columns_before(self, relation: Relation, step: Stateful) -> Columns:
        """Return the columns of the rows that reach a step over the rows of others."""
        steps = _until(relation, step)
        root = root_kind(steps)
        if root is None:
            return columns_after(self.columns(relation.inputs[0]), steps)
        return columns_after(root.own_columns(steps[0], relation, self), steps[1:])

    def _source(self, name: str) -> Branches:
        source = self._sources[name]
        terms = by_name(source.schema.names())
        for computed in source.computed:
            terms[computed.name,] = substitute(computed.value.expression, terms)
        return (Branch(name, (), terms),)

    def _through(self, relation: Relation, steps: Sequence[Step]) -> Branches:
        root = root_kind(steps)
        if root is None:
            return branches_after(self.of(relation.inputs[0]), steps)
        return branches_after(root.own_branches(steps[0], relation, self), steps[1:])


def _until(relation: Relation, step: Stateful) -> list[Step]:
    return list(relation.steps[: relation.steps.index(step)])
