"""Where state is kept: programs keep theirs in RocksDB, whatever the pipeline's setting."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ..model.graph import OperatorGraph
from ..operators.registry import operator_kind


def check_backends(graph: OperatorGraph) -> Iterator[Diagnostic]:
    """Yield one diagnostic for all operators if a setting or profile keeps state in memory."""
    spans = [relation.span for relation, step in graph.stateful() if operator_kind(step).in_rocksdb]
    settings = graph.pipeline.settings
    asked = ["the front matter"] if settings.state_backend == "memory" else []
    asked += [
        f"profile `{name}`"
        for name, profile in settings.profiles.items()
        if profile.state_backend == "memory"
    ]
    if spans and asked:
        yield Diagnostic(
            codes.STATE_BACKEND,
            f"programs keep their state in RocksDB, and {asked[0]} says `state_backend: memory`",
            Label(spans[0], "runs as a program"),
            secondary=tuple(Label(span, "and so does this") for span in spans[1:]),
            help="remove `state_backend` there: RocksDB is what a pipeline has without it",
        )
