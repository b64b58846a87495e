"""Unused declarations: only a warning, since a half-written spec is full of them."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ..model.declared import UserAggregate
from ..model.graph import OperatorGraph
from ..model.programs import Operator
from ..model.steps import SideRows, late_steps, tables_of


def check_unused(graph: OperatorGraph) -> Iterator[Diagnostic]:
    """Yield sources, streams, tables and functions that neither a sink nor a stream uses."""
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
            if any(isinstance(step, Operator) and step.declared for step in relation.steps):
                what = "operator"
            side = bool(relation.steps) and isinstance(relation.steps[0], SideRows)
            instead = "write `SKIP` instead of `SEND TO`" if side else "remove it"
            if any(True for _ in late_steps(relation.steps)):
                instead = "leave ON LATE ROWS out"
            yield Diagnostic(
                codes.UNUSED,
                f"{what} `{relation.name}` is read by nothing",
                Label(relation.span),
                help=f"{instead}, or add `CREATE SINK … FROM {relation.stream} WITH (…);`",
            )
    looked_up = {t for r in pipeline.relations for t in tables_of(r.steps)}
    for table in pipeline.tables:
        if table.name not in looked_up:
            yield Diagnostic(
                codes.UNUSED,
                f"table `{table.name}` is looked up by nothing",
                Label(table.span),
                help=f"remove it, or join a stream with it: `JOIN {table.name} ON …`",
            )
    for function in pipeline.functions:
        if function.name not in pipeline.called:
            what = "aggregate" if isinstance(function, UserAggregate) else "function"
            yield Diagnostic(
                codes.UNUSED,
                f"{what} `{function.name}` is called by nothing",
                Label(function.span),
                help="remove it, or call it",
            )
