"""Model to graph: one query for each relation that a sink reads."""

from __future__ import annotations

from ..model.graph import OperatorGraph, Query, upstream
from ..model.pipeline import Pipeline, Relation
from ..model.steps import Stateful, tables_of
from ..operators.registry import operator_kind
from .liveness import state_uses


def build(pipeline: Pipeline) -> OperatorGraph:
    """Return the graph; queries are in the order of the first sink that reads them."""
    relations = {r.name: r for r in pipeline.relations}
    sinks: dict[str, list[str]] = {}
    for sink in pipeline.sinks:
        sinks.setdefault(sink.relation, []).append(sink.name)
    queries = tuple(_query(name, tuple(of), pipeline, relations) for name, of in sinks.items())
    return OperatorGraph(pipeline, queries)


def _query(
    name: str, sinks: tuple[str, ...], pipeline: Pipeline, relations: dict[str, Relation]
) -> Query:
    read = set(upstream(name, relations))
    relation = relations.get(name)
    # To Spark, a program that gives panes only adds rows.
    steps = [step for below in read & relations.keys() for step in relations[below].steps]
    updates = any(operator_kind(s).changes(s) for s in steps if isinstance(s, Stateful))
    return Query(
        name if relation is None else relation.id,
        name,
        "update" if updates else "append",
        sinks,
        tuple(s.name for s in pipeline.sources if s.name in read),
        tuple(state_uses(name, pipeline)),
        _tables(read, pipeline, relations),
    )


def _tables(read: set[str], pipeline: Pipeline, relations: dict[str, Relation]) -> tuple[str, ...]:
    used = {t for name in read if name in relations for t in tables_of(relations[name].steps)}
    return tuple(table.name for table in pipeline.tables if table.name in used)
