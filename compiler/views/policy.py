"""The barriers of a pipeline, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.graph import OperatorGraph
from ..operators.facts.fact import Fact


def policy(graph: OperatorGraph) -> Iterator[Fact]:
    """Yield the policy of barriers and how far apart queries may be."""
    checkpoint, settings = graph.pipeline.checkpoint, graph.pipeline.settings
    alone = len(graph.queries) == 1
    who = "the query has" if alone else "all queries have"
    yield Fact("every", (f"{checkpoint.every}: an epoch that {who} finished, with what it closes",))
    kept = checkpoint.retain
    newest = "only the newest" if kept == 1 else f"the newest {kept}"
    yield Fact("kept", (f"{newest} can be gone back to",))
    failing = f"one that is not complete after {checkpoint.timeout} has failed"
    match checkpoint.tolerate:
        case 0:
            ends = "the first that fails ends the run"
        case 1:
            ends = "a second one in a row ends the run"
        case more:
            ends = f"more than {more} in a row end the run"
    yield Fact("timeout", (f"{failing}; {ends}",))
    if not alone:
        ahead = settings.max_epochs_in_flight
        told = "no query begins an epoch before all have finished the last"
        if ahead > 1:
            told = f"a query may be up to {ahead} epochs ahead of what all have finished"
        yield Fact("epochs", (told,))
