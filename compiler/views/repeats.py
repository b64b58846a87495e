"""What one query computes more than once.

A query that reaches a relation by several paths, as a join of counts with their own maximum does,
computes it once per path: Spark reads the sources again, and keeps the state again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..model.graph import OperatorGraph, Query, upstream
from ..model.steps import Stateful

_WORDS = {2: "twice", 3: "three times", 4: "four times"}


def source_repeats(graph: OperatorGraph, source: str) -> Iterator[str]:
    """Yield which queries read a source more than once."""
    relations = {relation.name: relation for relation in graph.pipeline.relations}
    for query in graph.queries:
        ways = Counter(upstream(query.relation, relations))[source]
        if ways > 1:
            yield f"query {query.id} reads each row {_times(ways)}"


def state_repeats(query: Query, step: Stateful) -> str | None:
    """Return how often a query has an operator, None for once."""
    ways = sum(use.step.id == step.id for use in query.states)
    if ways < 2:
        return None
    times = _times(ways)
    return (
        f"{query.id} comes to it by {ways} ways: its rows are read and computed {times}, and the "
        f"state is kept {times}. A stream of its own with a sink, which another pipeline reads, is "
        "computed once"
    )


def _times(ways: int) -> str:
    return _WORDS.get(ways, f"{ways} times")
