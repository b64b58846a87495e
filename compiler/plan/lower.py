"""Graph to plan: what the running job, a reviewer and a migration need to know about a pipeline.

The plan (``contracts.plan``) has settings, policy, sources, stateful operators with the cells of
their state, queries, sinks. Every list and key is in an order that follows from the spec.
"""

from __future__ import annotations

from pathlib import Path

from ...contracts import plan
from ...contracts.records import dataclass
from ..model.graph import OperatorGraph, Query
from ..model.pipeline import Relation
from ..model.steps import Stateful, Step
from ..operators.registry import operator_kind
from ..operators.rows.columns import Columns
from ..operators.rows.origins import Branches
from .endpoints import (
    describe_function,
    describe_policy,
    describe_settings,
    describe_sink,
    describe_source,
    describe_table,
)
from .modules import module_code
from .origins import Origins


def lower(graph: OperatorGraph, folder: Path | None = None) -> plan.Plan:
    """Return the plan of a graph; Python modules are looked for in a folder."""
    pipeline = graph.pipeline
    settings, origins = pipeline.settings, Origins(pipeline)
    modes = {name: query.output_mode for query in graph.queries for name in query.sinks}
    return plan.Plan(
        pipeline=settings.pipeline,
        version=settings.version,
        description=settings.description,
        spec=pipeline.spec_name,
        settings=describe_settings(settings),
        checkpoint=describe_policy(pipeline.checkpoint),
        functions={f.name: describe_function(f, folder) for f in pipeline.python_functions()},
        sources={s.name: describe_source(s) for s in pipeline.sources},
        tables={t.name: describe_table(t) for t in pipeline.tables},
        operators={
            step.id: operator_kind(step).describe(step, _Place(step, relation, origins, folder))
            for relation, step in graph.stateful()
        },
        queries={q.id: _query(q) for q in graph.queries},
        sinks={s.name: describe_sink(s, modes[s.name]) for s in pipeline.sinks},
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of a stateful step: its relation, the origins of all rows, the spec's folder."""

    step: Stateful
    relation: Relation
    origins: Origins
    folder: Path | None

    @property
    def stream(self) -> str:
        """The stream that it is written in."""
        return self.relation.stream

    @property
    def begins(self) -> bool:
        """Whether its relation begins with it."""
        return self.relation.steps[0] is self.step

    def of(self, name: str) -> Branches:
        """Return the origins of a source's or relation's rows."""
        return self.origins.of(name)

    def columns(self, name: str) -> Columns:
        """Return the columns of a source or relation."""
        return self.origins.columns(name)

    def before(self, without: tuple[type[Step], ...] = ()) -> Branches:
        """Return the rows that reach it, leaving out steps of these classes."""
        return self.origins.before(self.relation, self.step, without)

    def columns_before(self) -> Columns:
        """Return the columns of the rows that reach it."""
        return self.origins.columns_before(self.relation, self.step)

    def code(self, target: str) -> str | None:
        """Return the digest of the code of ``module:name``, None where it is not found."""
        return module_code(self.folder, target)


def _query(query: Query) -> plan.Query:
    return plan.Query(
        id=query.id,
        relation=query.relation,
        output_mode=query.output_mode,
        sinks=tuple(query.sinks),
        sources=tuple(query.sources),
        tables=tuple(query.tables),
        operators=tuple(operator_kind(u.step).describe_use(u.step, u) for u in query.states),
    )
