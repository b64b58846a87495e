"""The operator graph: which queries there are, and which state each of them keeps.

One Spark query runs for each relation that a sink reads. A stateful step exists once in every query
that contains it, with the part of its state that this query uses: Spark prunes aggregates and
columns that nothing below reads.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...contracts.records import dataclass
from .pipeline import Pipeline, Relation, Source
from .steps import Stateful


@dataclass(frozen=True, slots=True)
class StateUse:
    """A stateful step in one query.

    ``aggregates`` are the ids of the aggregates live in the query, in the order of their buffers;
    ``columns`` the columns kept for each side of a join, or for the waiting rows of each input of a
    program.
    """

    step: Stateful
    aggregates: tuple[str, ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """One Spark query; its ``id`` names its checkpoint.

    ``states`` are in Spark's order: from the sink up, left before right.
    """

    id: str
    relation: str
    output_mode: str
    sinks: tuple[str, ...]
    sources: tuple[str, ...]
    states: tuple[StateUse, ...]
    tables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorGraph:
    """A pipeline with its queries; look-ups by name."""

    pipeline: Pipeline
    queries: tuple[Query, ...]

    def relation(self, name: str) -> Relation | None:
        """Return the relation of a name, None for a source."""
        return next((r for r in self.pipeline.relations if r.name == name), None)

    def source(self, name: str) -> Source | None:
        """Return the source of a name."""
        return next((s for s in self.pipeline.sources if s.name == name), None)

    def stateful(self) -> tuple[tuple[Relation, Stateful], ...]:
        """Return the stateful steps with their relations, in the order of the pipeline."""
        return tuple(
            (r, s) for r in self.pipeline.relations for s in r.steps if isinstance(s, Stateful)
        )


def upstream(name: str, relations: dict[str, Relation]) -> Iterator[str]:
    """Yield a relation and everything it reads, nearest first, sources included (may repeat)."""
    yield name
    relation = relations.get(name)
    if relation is not None:
        for below in relation.inputs:
            yield from upstream(below, relations)
