"""A graph as text: each query with its sources, its state from the sink up, its sinks."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.graph import OperatorGraph, Query, StateUse
from ..model.programs import Operator


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
        lines += [f"    {name}: {', '.join(columns)}" for name, columns in _kept(use)]
    lines.append(f"  writes {', '.join(query.sinks)}")
    return "\n".join(lines)


def _kept(use: StateUse) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the columns that are kept of each input, with the words for it."""
    names = ["side"] * len(use.columns)
    if isinstance(use.step, Operator):
        names = [f"waiting rows of {given.alias}" for given in use.step.inputs]
    yield from zip(names, use.columns, strict=False)
