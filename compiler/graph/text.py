"""A graph as text: each query with its sources, its state from the sink up, its sinks."""

from __future__ import annotations

from ..model.graph import OperatorGraph, Query
from ..operators.registry import operator_kind


def graph_text(graph: OperatorGraph) -> str:
    """Return the queries of a graph."""
    return "\n\n".join(_query(q) for q in graph.queries) + "\n"


def _query(query: Query) -> str:
    lines = [f"query {query.id}: {query.output_mode}"]
    lines.append(f"  reads {', '.join(query.sources)}")
    if query.tables:
        lines.append(f"  looks up {', '.join(query.tables)}")
    for use in query.states:
        lines.append(f"  state {use.step.id}: {use.step.kind}")
        lines += [f"    {id_}" for id_ in use.aggregates]
        kept = operator_kind(use.step).kept(use.step, use)
        lines += [f"    {words}: {', '.join(columns)}" for words, columns in kept]
    lines.append(f"  writes {', '.join(query.sinks)}")
    return "\n".join(lines)
