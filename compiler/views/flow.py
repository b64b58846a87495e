"""The flow of a pipeline as boxes and arrows, for any renderer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...contracts.plan import Join, Operator, Plan, Program, window_of
from ...contracts.records import dataclass
from ..connectors.interface import Role
from ..connectors.options import Concern
from ..connectors.registry import SINKS, SOURCES, TABLES
from ..model.graph import OperatorGraph
from ..model.pipeline import Endpoint, Pipeline, Relation, Sink, Source, Table
from ..model.steps import SideRows, Stateful, Step, late_steps, tables_of
from ..operators.registry import kind_of


@dataclass(frozen=True, slots=True)
class Line:
    """A line in a box; ``is_state`` marks those about state."""

    text: str
    is_state: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A source, a table, a stream, a side stream or a sink.

    ``kind`` is ``source``, ``table``, ``stream``, ``side`` or ``sink``; ``name`` is unique in the
    pipeline.
    """

    name: str
    kind: str
    lines: tuple[Line, ...]

    @property
    def is_stateful(self) -> bool:
        """Whether the box keeps state."""
        return any(line.is_state for line in self.lines)


@dataclass(frozen=True, slots=True)
class Arrow:
    """Rows that go from one box to another; ``is_side`` if a source filtered them out."""

    start: str
    end: str
    is_side: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """The boxes of a pipeline in the order of its spec, and the arrows between them."""

    title: str
    description: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def flow(graph: OperatorGraph, plan: Plan) -> Flow:
    """Return the flow of a pipeline that has a plan."""
    pipeline = graph.pipeline
    changing = {relation.name for relation in pipeline.relations if relation.changes}
    boxes = [
        *map(_source, pipeline.sources),
        *map(_table, pipeline.tables),
        *(_stream(relation, plan.operators) for relation in pipeline.relations),
        *(_sink(sink, sink.relation in changing) for sink in pipeline.sinks),
    ]
    return Flow(
        pipeline.settings.pipeline,
        pipeline.settings.description or "",
        tuple(boxes),
        tuple(_arrows(pipeline)),
    )


def _arrows(pipeline: Pipeline) -> Iterator[Arrow]:
    for relation in pipeline.relations:
        for name in dict.fromkeys(relation.inputs):
            yield Arrow(name, relation.name, _is_side(relation))
        for name in dict.fromkeys(tables_of(relation.steps)):
            yield Arrow(name, relation.name)
    for sink in pipeline.sinks:
        yield Arrow(sink.relation, sink.name)


def _is_late(relation: Relation) -> bool:
    return any(True for _ in late_steps(relation.steps))


def _is_side(relation: Relation) -> bool:
    return any(isinstance(s, SideRows) for s in relation.steps) or _is_late(relation)


def _source(source: Source) -> Box:
    lines = [*_endpoint(source.endpoint, SOURCES)]
    if source.watermark is not None:
        lines.append(f"watermark: {source.watermark.column} - {source.watermark.delay}")
    return Box(source.name, "source", tuple(map(Line, lines)))


def _table(table: Table) -> Box:
    often = f"read every {table.refresh}" if table.refresh is not None else "read once a run"
    return Box(table.name, "table", tuple(map(Line, (*_endpoint(table.endpoint, TABLES), often))))


def _sink(sink: Sink, changes: bool) -> Box:
    lines = [*_endpoint(sink.endpoint, SINKS)]
    if sink.upsert:
        lines.append(f"one row for each {', '.join(sink.key)}")
    elif changes:
        lines.append("each change of a row")
    return Box(sink.name, "sink", tuple(map(Line, lines)))


def _endpoint(endpoint: Endpoint, known: Mapping[str, Role]) -> Iterator[str]:
    format_ = endpoint.option("format")
    yield f"{endpoint.connector}, {format_}" if format_ else endpoint.connector
    places = known[endpoint.connector].about(Concern.PLACE)
    yield from (text for name in places if (text := endpoint.option(name)))


def _stream(relation: Relation, operators: Mapping[str, Operator]) -> Box:
    lines: list[Line] = []
    for step in relation.steps:
        lines += _step(step, operators)
    return Box(
        relation.name,
        "side" if _is_side(relation) else "stream",
        tuple(lines) or (Line(f"columns of {', '.join(relation.inputs)}"),),
    )


def _step(step: Step, operators: Mapping[str, Operator]) -> Iterator[Line]:
    if words := kind_of(step).words(step):
        yield Line(words)
    if isinstance(step, Stateful):
        operator = operators[step.id]
        yield Line(f"state {step.id}{_keys(operator)}", is_state=True)
        if isinstance(operator, Program):
            yield from _names("cells", (cell.id for cell in operator.cells))
            yield from _names("timers", (timer.id for timer in operator.timers))


def _names(part: str, names: Iterable[str]) -> Iterator[Line]:
    if text := ", ".join(names):
        yield Line(f"{part} {text}", is_state=True)


def _keys(operator: Operator) -> str:
    """Return the words for the keys of an operator's state, its window included."""
    grouped = operator.sides[0] if isinstance(operator, Join) else operator
    names = [key.name for key in grouped.keys]
    if window_of(operator) is not None:
        names.append("window")
    return f" by {', '.join(names)}" if names else ""
