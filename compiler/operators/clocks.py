"""When a query's watermark reaches an instant, and how far the operators of a chain lag behind it.

Spark gives a query one watermark: the minimum, over the event times that it reads, of the latest
seen minus the delay. An interval join emits rows that are older than that by its bound; the
watermark of what reads them lags by as much.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...contracts.records import dataclass
from ..model.graph import OperatorGraph, Query, upstream
from ..model.pipeline import Relation
from ..model.steps import Stateful, Step, Window
from .facts.fact import Fact
from .facts.instants import instant, length
from .registry import kind_of, operator_kind


@dataclass(frozen=True, slots=True)
class Clock:
    """An event time that a query's watermark waits for; ``source`` None is the processing time."""

    source: str | None
    delay: int


@dataclass(frozen=True, slots=True)
class Lag:
    """How far an operator's watermark is behind that of its query, in microseconds.

    ``is_open`` says that it lags by another millisecond, Spark's smallest step: what happens at an
    instant then happens after it.
    """

    micros: int = 0
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Timing:
    """When an operator's watermark reaches an instant, in one or more queries that have it."""

    queries: tuple[str, ...]
    clocks: tuple[Clock, ...]
    lag: Lag

    def reaches(self, micros: int, *, passes: bool = False) -> str:
        """Return what must have been seen for the watermark to reach an instant, or to pass it."""
        is_open = passes or self.lag.is_open
        seen = []
        for clock in self.clocks:
            at = instant(micros + self.lag.micros + clock.delay)
            of = "read" if clock.source is None else f"of {clock.source}"
            at_or_of = "at " if clock.source is None else "of "
            when = f"later than {at}" if is_open else f"{at_or_of}{at} or later"
            seen.append(f"a row {of} {when}")
        return " and ".join(seen)


def timings(graph: OperatorGraph, step: Stateful) -> list[Timing]:
    """Return the timings of a step's watermark; one for all queries in which it is the same."""
    lag = _lags(graph)[step.id]
    found: dict[tuple[Clock, ...], list[str]] = {}
    for query in graph.queries:
        if any(use.step.id == step.id for use in query.states):
            found.setdefault(_clocks(graph, query), []).append(query.id)
    return [Timing(tuple(queries), clocks, lag) for clocks, queries in found.items()]


def _clocks(graph: OperatorGraph, query: Query) -> tuple[Clock, ...]:
    sources = [source for source in map(graph.source, query.sources) if source is not None]
    clocks = [Clock(s.name, s.watermark.delay.micros) for s in sources if s.watermark is not None]
    if any(window.processing for window in _windows(graph, query)):
        clocks.append(Clock(None, 0))
    return tuple(clocks)


def _windows(graph: OperatorGraph, query: Query) -> list[Window]:
    relations = {r.name: r for r in graph.pipeline.relations}
    names = dict.fromkeys(upstream(query.relation, relations))
    steps = [step for name in names if name in relations for step in relations[name].steps]
    return [window for step in steps for window in kind_of(step).windows(step)]


def _lags(graph: OperatorGraph) -> dict[str, Lag]:
    """Return how far each stateful step is behind, by its id."""
    relations = {r.name: r for r in graph.pipeline.relations}
    behind: dict[str, Lag] = {}
    found: dict[str, Lag] = {}
    for relation in graph.pipeline.relations:
        lag = _input_lag(relation, relations, behind)
        for step in relation.steps:
            if isinstance(step, Stateful):
                found[step.id] = lag
            lag = _after(step, lag)
        behind[relation.name] = lag
    return found


def _input_lag(relation: Relation, relations: dict[str, Relation], behind: dict[str, Lag]) -> Lag:
    lags = [behind[name] for name in relation.inputs if name in relations]
    return max(lags, key=lambda lag: (lag.micros, lag.is_open), default=Lag())


def _after(step: Step, lag: Lag) -> Lag:
    more = operator_kind(step).lag(step) if isinstance(step, Stateful) else None
    return lag if more is None else Lag(lag.micros + more, is_open=True)


def behind(graph: OperatorGraph, step: Stateful) -> Iterator[Fact]:
    """Yield how far the watermark is behind because of joins below."""
    lag = next((timing.lag for timing in timings(graph, step)), None)
    if lag is not None and lag.micros:
        text = f"{length(lag.micros)} behind that of the query, for the joins below"
        yield Fact("watermark", (text,))


def when(
    graph: OperatorGraph, step: Stateful, micros: int, *, passes: bool = False
) -> tuple[str, ...]:
    """Return when a step's watermark reaches an instant, one text for each timing."""
    found = timings(graph, step)
    if len(found) == 1:
        return (_seen(found[0], micros, passes),)
    return tuple(
        f"in {', '.join(timing.queries)} {_seen(timing, micros, passes)}" for timing in found
    )


def _seen(timing: Timing, micros: int, passes: bool) -> str:
    seen = timing.reaches(micros, passes=passes)
    return f"when {seen} has been seen" if seen else "never: nothing moves the watermark"
