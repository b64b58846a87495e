"""A graph as text: each query with its sources, its state from the sink up, its sinks."""

from __future__ import annotations

from .graph import OperatorGraph, Query


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
        lines += [f"    side: {', '.join(side)}" for side in use.columns]
    lines.append(f"  writes {', '.join(query.sinks)}")
    return "\n".join(lines)
