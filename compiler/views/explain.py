"""A pipeline explained: its sources, operators with state, queries, sinks, and its barriers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from ...contracts.sinks import SINKS
from ...dsl.ast.statements import CreateOperator, CreateStream, Spec
from ..model.graph import OperatorGraph
from ..model.pipeline import Relation, Sink, Source, Table
from ..model.steps import Stateful, late_steps, tables_of
from ..operators.facts.fact import NO_BOUND, Fact
from ..operators.registry import operator_kind
from .policy import policy
from .repeats import source_repeats, state_repeats

WIDTH = 100

_WATERMARK = """The watermark of a query is the least, over its sources, of the latest event time
seen less the delay. It is set at the end of a batch: what it closes comes out in the next batch,
and rows that arrive in that one still count. Times below are examples."""


def explain(graph: OperatorGraph, spec: Spec) -> str:
    """Return the facts about the state of a pipeline, and the guarantees of its sinks."""
    pipeline = graph.pipeline
    stateful = graph.stateful()
    queries, operators = len(graph.queries), len(stateful)
    head = (
        f"pipeline {pipeline.settings.pipeline}: {queries} quer{'y' if queries == 1 else 'ies'}, "
        f"{operators or 'no'} operator{'' if operators == 1 else 's'} with state"
    )
    lines = [head, "", "Sources", *_table(_source(s, graph) for s in pipeline.sources)]
    if pipeline.tables:
        lines += ["", "Tables", *_table(_lookup_table(graph, t) for t in pipeline.tables)]
    if stateful and any(f.watermark or f.proctime for s in pipeline.sources for f in s.schema):
        lines += ["", *textwrap.wrap(" ".join(_WATERMARK.split()), WIDTH)]
    reasons = _reasons(spec)
    for relation, step in stateful:
        lines += ["", *_operator(graph, relation, step, reasons.get(relation.stream))]
    lines += ["", "Sinks", *_table(_sink(graph, sink) for sink in pipeline.sinks)]
    lines += ["", "Barriers", *_table(policy(graph))]
    return "\n".join(lines) + "\n"


def explain_stream(graph: OperatorGraph, spec: Spec, stream: str) -> str:
    """Return the facts about the state of one stream; empty if it keeps none."""
    reason = _reasons(spec).get(stream)
    return "\n\n".join(
        "\n".join(_operator(graph, relation, step, reason))
        for relation, step in graph.stateful()
        if relation.stream == stream
    )


def _reasons(spec: Spec) -> dict[str, str]:
    """Return why streams have unbounded state, by their names."""
    return {
        statement.name.text: option.value
        for statement in spec.statements
        if isinstance(statement, CreateStream | CreateOperator)
        for option in statement.options
        if option.name.text.lower() == "unbounded"
    }


def _source(source: Source, graph: OperatorGraph) -> Fact:
    text = _connector(source)
    mark = source.watermark
    more = (*_policies(source), *source_repeats(graph, source.name))
    if mark is None:
        return Fact(source.name, (f"{text}; no event time", *more))
    late = f"rows may come up to {mark.delay} out of order"
    if mark.delay.micros == 0:
        late = "rows come in order"
    return Fact(source.name, (f"{text}; event time {mark.column}, {late}", *more))


def _connector(declared: Source | Table) -> str:
    words = [declared.endpoint.connector, declared.endpoint.option("format") or ""]
    return ", ".join(word for word in words if word)


def _policies(source: Source) -> Iterator[str]:
    """Yield what happens to rejected rows, unless malformed ones fail, which is the default."""
    match source.malformed_rows.action:
        case "skip":
            yield "malformed rows are left out"
        case "send":
            yield f"malformed rows go to {source.malformed_rows.to}"
    if source.future_rows is not None:
        to = source.future_rows.to
        goes = "are left out" if to is None else f"go to {to}"
        yield f"rows more than {source.future_rows.beyond} ahead of the clock {goes}"


def _lookup_table(graph: OperatorGraph, table: Table) -> Fact:
    read = "read once a run"
    if table.refresh is not None:
        read = f"read again when a batch begins {table.refresh} or more after the last reading"
    users = dict.fromkeys(
        relation.stream
        for relation in graph.pipeline.relations
        if table.name in tables_of(relation.steps)
    )
    used = f"; looked up by {', '.join(users)}" if users else ""
    return Fact(table.name, (f"{_connector(table)}; {read}{used}",))


def _operator(
    graph: OperatorGraph, relation: Relation, step: Stateful, reason: str | None
) -> Iterator[str]:
    words = operator_kind(step).words(step)
    yield from textwrap.wrap(f"{step.id}: {words}", WIDTH, subsequent_indent="  ")
    found = [_sent(fact, graph, relation) for fact in operator_kind(step).facts(step, graph)]
    if reason is not None:
        accepted = Fact(NO_BOUND.name, (f"nothing; accepted in the spec: {reason!r}",))
        found = [accepted if fact == NO_BOUND else fact for fact in found]
    queries = [q.id for q in graph.queries if any(use.step.id == step.id for use in q.states)]
    name = "query" if len(queries) == 1 else "queries"
    found.append(Fact(name, (", ".join(queries) or "none: no sink reads it",)))
    repeats = [text for q in graph.queries if (text := state_repeats(q, step)) is not None]
    if repeats:
        found.append(Fact("cost", tuple(repeats)))
    if relation.name != step.id:
        found.append(Fact("stream", (relation.stream,)))
    yield from _table(found)


def _sent(fact: Fact, graph: OperatorGraph, relation: Relation) -> Fact:
    """Return the fact about late rows with the stream that gets them, if there is one."""
    streams = [
        other.name
        for other in graph.pipeline.relations
        if any(late.operator == relation.stream for late in late_steps(other.steps))
    ]
    if fact.name != "late" or not streams:
        return fact
    return Fact(fact.name, (*fact.texts, f"what is dropped whole goes to {streams[0]}"))


def _sink(graph: OperatorGraph, sink: Sink) -> Fact:
    promised = SINKS[sink.endpoint.connector]
    promise, back = promised.delivery, promised.going_back(upserts=sink.upsert).effect
    if sink.upsert and promise.startswith("at least once"):
        key = ", ".join(sink.key)
        promise += f". By {key} effectively once: what comes again replaces itself"
    query = next(q for q in graph.queries if sink.name in q.sinks)
    relation = graph.relation(query.relation)
    rows = "changes of rows" if relation is not None and relation.changes else "rows"
    text = f"{sink.endpoint.connector}, {rows} of {query.id}. {promise[0].upper()}{promise[1:]}."
    text += f" When a job goes back to a barrier, {back}."
    return Fact(sink.name, (text,))


def _table(found: Iterable[Fact]) -> Iterator[str]:
    """Return facts with their names in a column, wrapped."""
    rows = list(found)
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        name = row.name
        for text in row.texts:
            first = f"  {name:<{width}}  "
            rest = " " * len(first)
            yield from textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest)
            name = ""
