"""Graph to plan: what the running job, a reviewer and a migration must know about a pipeline.

The plan (``contracts.plan``) has settings, policy, sources, stateful operators with the cells of
their state, queries, sinks. Every list and key is in an order that follows from the spec.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from pathlib import Path

from ...contracts import plan
from ...contracts.records import dataclass
from ...dsl.ast.expressions import ColumnRef, Expression
from ...dsl.ast.node import Name, Node
from ...dsl.diagnostics import InternalError
from ...dsl.format import sql
from ...dsl.walk import rewrite
from ..model import types
from ..model.graph import OperatorGraph, Query, StateUse
from ..model.pipeline import Relation
from ..model.programs import Cell, CellKind, Operator, Panes
from ..model.schema import Field, Schema
from ..model.steps import (
    Aggregate,
    AggregateCall,
    Deduplicate,
    Join,
    JoinSide,
    Key,
    Stateful,
    TopN,
    Window,
)
from ..operators.program.text import handler_lines
from .endpoints import (
    code_of,
    column_of,
    describe_function,
    describe_policy,
    describe_settings,
    describe_sink,
    describe_source,
    describe_table,
    type_text,
)
from .inputs import (
    aggregate_columns,
    aggregate_input,
    also_required,
    deduplicate_input,
    program_input,
    side_input,
    top_n_input,
)
from .origins import Origins


def lower(graph: OperatorGraph, folder: Path | None = None) -> plan.Plan:
    """Return the plan of a graph; modules in Python are looked for in a folder."""
    pipeline = graph.pipeline
    settings, origins = pipeline.settings, Origins(pipeline)
    modes = {name: query.output_mode for query in graph.queries for name in query.sinks}
    return plan.Plan(
        pipeline=settings.pipeline,
        version=settings.version,
        description=settings.description,
        spec=pipeline.spec_name,
        settings=describe_settings(settings),
        checkpoint=describe_policy(pipeline.checkpoint),
        functions={f.name: describe_function(f, folder) for f in pipeline.python_functions()},
        sources={s.name: describe_source(s) for s in pipeline.sources},
        tables={t.name: describe_table(t) for t in pipeline.tables},
        operators={
            s.id: describe_state(s, _Below(r, origins, folder)) for r, s in graph.stateful()
        },
        queries={q.id: _query(q) for q in graph.queries},
        sinks={s.name: describe_sink(s, modes[s.name]) for s in pipeline.sinks},
    )


@dataclass(frozen=True, slots=True)
class _Below:
    """Where a stateful step stands: its relation, what all rows are made of, the spec's folder."""

    relation: Relation
    origins: Origins
    folder: Path | None


@singledispatch
def describe_state(step: Stateful, below: _Below) -> plan.Operator:
    """Return what a stateful step keeps, under which keys, and of which rows."""
    raise InternalError(f"no handler for {type(step).__name__}")


@describe_state.register
def describe_aggregate(step: Aggregate, below: _Below) -> plan.Aggregation:
    """Describe the groups of an aggregate and the cells of each."""
    return plan.Aggregation(
        id=step.id,
        stream=below.relation.stream,
        window=None if step.window is None else _window(step.window),
        keys=tuple(_key(k) for k in step.keys),
        emit="changes" if step.changes else "on window close",
        aggregates=tuple(_aggregate(c) for c in step.calls),
        columns=aggregate_columns(step),
        input=aggregate_input(step, below.relation, below.origins),
    )


@describe_state.register
def describe_join(step: Join, below: _Below) -> plan.Join:
    """Describe both sides of a join and how long their rows wait."""
    return plan.Join(
        id=step.id,
        stream=below.relation.stream,
        join=step.join,
        condition=sql(_without_aliases(step, step.condition.expression)),
        bound=None
        if step.lower is None or step.upper is None
        else plan.Bound(lower_micros=step.lower, upper_micros=step.upper),
        sides=tuple(_side(step, side, below.origins) for side in (step.left, step.right)),
        also=tuple(also_required(step, below.origins)),
    )


@describe_state.register
def describe_deduplicate(step: Deduplicate, below: _Below) -> plan.Deduplication:
    """Describe the ids that are remembered."""
    return plan.Deduplication(
        id=step.id,
        stream=below.relation.stream,
        keys=tuple(_key(k) for k in step.keys),
        within=step.within.text,
        input=deduplicate_input(step, below.relation, below.origins),
    )


@describe_state.register
def describe_top_n(step: TopN, below: _Below) -> plan.TopN:
    """Describe the rows that wait for their window to close."""
    cell = "collect_list(rows)"
    known = below.origins.types_before(below.relation, step)
    return plan.TopN(
        id=step.id,
        stream=below.relation.stream,
        keys=tuple(plan.Column(name, None) for name in step.keys),
        rows=tuple(step.columns),
        order=tuple(f"{o.column} {'desc' if o.descending else 'asc'}" for o in step.order),
        limit=step.limit,
        aggregates=(
            plan.Aggregate(
                id=cell,
                function="collect_list",
                filter=None,
                cells=(plan.AggregateCell(id=cell, buffer="buf", type="BINARY"),),
            ),
        ),
        given=tuple(type_text(known.get(name, types.UNKNOWN)) for name in step.columns),
        input=top_n_input(step, below.relation, below.origins),
        function=None if step.function == "row_number" else step.function,
    )


@describe_state.register
def describe_program(step: Operator, below: _Below) -> plan.Program:
    """Describe what a program reads, what it has for each key, what it does and what it gives."""
    return plan.Program(
        id=step.id,
        stream=below.relation.stream,
        window=None if step.panes is None else _window(step.panes.window),
        panes=None if step.panes is None else _panes(step.panes),
        keys=tuple(plan.Column(key.name, type_text(key.type)) for key in step.keys),
        inputs=tuple(
            plan.ProgramInput(
                alias=given.alias,
                relation=given.relation,
                event_time=given.event_time,
                input=program_input(step, given, below.relation, below.origins),
            )
            for given in step.inputs
        ),
        ordered=step.ordered,
        cells=tuple(_cell(cell) for cell in step.cells),
        timers=tuple(
            plan.Timer(id=timer.name, time="processing" if timer.processing else "event")
            for timer in step.timers
        ),
        returns=tuple(column_of(field) for field in step.returns),
        handlers=None if step.python is None else "python",
        python_class=step.python,
        declared=step.declared,
        statements=tuple(handler_lines(step)),
        code=code_of(step, below.folder),
    )


def _panes(panes: Panes) -> plan.Panes:
    return plan.Panes(
        early=None if panes.early is None else panes.early.text,
        lateness=None if panes.lateness is None else panes.lateness.text,
    )


def _cell(cell: Cell) -> plan.ProgramCell:
    """Describe a cell; one that is read and written by entries has the type of these."""
    value = cell.type.value if isinstance(cell.type, types.Map) else None
    return plan.ProgramCell(
        id=cell.name,
        kind=cell.kind.value,
        type=type_text(cell.type),
        entry=None if cell.kind is CellKind.VALUE else type_text(cell.entry),
        value=None if value is None or cell.kind is not CellKind.MAP else type_text(value),
        default=None if cell.default is None else sql(cell.default.expression),
        ttl=None if cell.ttl is None else cell.ttl.text,
    )


def _time(expression: Expression) -> str:
    """Return the column that a window is over; the alias of a lookup's stream is no part of it."""
    if isinstance(expression, ColumnRef):
        return sql(ColumnRef(expression.span, expression.parts[-1:]))
    return sql(expression)


def _window(window: Window) -> plan.Window:
    session, cumulate = window.kind == "session", window.kind == "cumulate"
    return plan.Window(
        kind=window.kind,
        column=_time(window.column.expression),
        size=None if session else window.size.text,
        slide=window.slide.text if window.kind == "hop" and window.slide else None,
        gap=window.size.text if session else None,
        step=window.slide.text if cumulate and window.slide else None,
        offset=None if window.offset is None else window.offset.text,
        time="processing" if window.processing else None,
    )


def _key(key: Key) -> plan.Column:
    return plan.Column(key.name, type_text(key.value.type))


def _aggregate(call: AggregateCall) -> plan.Aggregate:
    condition = call.call.filter
    return plan.Aggregate(
        id=call.id,
        function=call.function,
        filter=None if condition is None else sql(condition),
        cells=tuple(
            plan.AggregateCell(id_, cell.buffer, type_text(cell.type), cell.scale)
            for id_, cell in zip(_cell_ids(call), call.cells, strict=True)
        ),
        given=_given(call),
    )


def _given(call: AggregateCall) -> tuple[str | None, ...]:
    """Return the types of what an aggregate is given, where its cells do not tell them.

    That is where they are Spark's own form of values, or made of hashes, which go by the type.
    """
    opaque = any(c.type == types.BINARY or c.buffer.startswith("MS[") for c in call.cells)
    return tuple(type_text(type_) for type_ in call.given) if opaque else ()


def _cell_ids(call: AggregateCall) -> list[str]:
    """Return the ids of an aggregate's cells; a name that Spark uses twice is numbered."""
    if len(call.cells) == 1:
        return [call.id]
    names = [cell.buffer for cell in call.cells]
    return [
        f"{call.id}.{name}{f'_{seen + 1}' if (seen := names[:i].count(name)) else ''}"
        for i, name in enumerate(names)
    ]


def _without_aliases(step: Join, expression: Expression) -> Expression:
    """Return an expression over a join that names relations: an alias is no part of its meaning.

    The sides of a relation that is joined with itself are told apart as ``left`` and ``right``.
    """
    relations = {side.alias: side.relation for side in (step.left, step.right)}
    if step.left.relation == step.right.relation:
        relations = {step.left.alias: "left", step.right.alias: "right"}

    def change(node: Node) -> Node | None:
        if isinstance(node, ColumnRef) and node.parts[0].text in relations:
            head = Name(node.span, relations[node.parts[0].text])
            return ColumnRef(node.span, (head, *node.parts[1:]))
        return None

    return rewrite(expression, change)


def _side(step: Join, side: JoinSide, origins: Origins) -> plan.Side:
    keys = [(_without_aliases(step, k.expression), k.type) for k in side.keys]
    return plan.Side(
        window=None if side.window is None else _window(side.window),
        relation=side.relation,
        keys=tuple(plan.Column(sql(key), type_text(type_)) for key, type_ in keys),
        columns=tuple(column_of(f) for f in side.schema),
        event_time=side.event_time,
        input=side_input(side, origins),
    )


def _query(query: Query) -> plan.Query:
    return plan.Query(
        id=query.id,
        relation=query.relation,
        output_mode=query.output_mode,
        sinks=tuple(query.sinks),
        sources=tuple(query.sources),
        tables=tuple(query.tables),
        operators=tuple(_use(use) for use in query.states),
    )


def _use(use: StateUse) -> plan.Use:
    match use.step:
        case Join(left=left, right=right):
            kept = zip((left.schema, right.schema), use.columns, strict=True)
            columns = tuple(_kept(schema, names) for schema, names in kept)
            return plan.Use(use.step.id, columns=columns)
        case Operator(inputs=inputs, ordered=True):
            waiting = {
                given.alias: _kept(given.schema, names)
                for given, names in zip(inputs, use.columns, strict=True)
            }
            return plan.Use(use.step.id, waiting=waiting)
        case Deduplicate() | Operator():
            return plan.Use(use.step.id)
        case _:
            return plan.Use(use.step.id, aggregates=tuple(use.aggregates))


def _kept(schema: Schema, names: Iterable[str]) -> tuple[plan.Column, ...]:
    return tuple(column_of(_found(schema, name)) for name in names)


def _found(schema: Schema, name: str) -> Field:
    field = schema.find(name)
    if field is None:
        raise InternalError(f"no column {name}")
    return field
