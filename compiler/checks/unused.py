"""Declarations that nothing reads: a warning, since a half-written spec is full of them."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import codes
from ...dsl.diagnostics import Diagnostic, Label
from ..graph.graph import OperatorGraph


def check_unused(graph: OperatorGraph) -> Iterator[Diagnostic]:
    """Yield sources and streams that no sink and no other stream reads."""
    pipeline = graph.pipeline
    read = {s.relation for s in pipeline.sinks}
    read |= {i for r in pipeline.relations for i in r.inputs}
    for source in pipeline.sources:
        if source.name not in read:
            yield Diagnostic(
                codes.UNUSED,
                f"source `{source.name}` is read by nothing",
                Label(source.span),
                help="remove it, or read it in a stream or a sink",
            )
    for relation in pipeline.relations:
        if relation.name not in read:
            what = "stream" if relation.name == relation.stream else "part"
            yield Diagnostic(
                codes.UNUSED,
                f"{what} `{relation.name}` is read by nothing",
                Label(relation.span),
                help=f"remove it, or add `CREATE SINK … FROM {relation.stream} WITH (…);`",
            )
