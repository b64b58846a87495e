"""Graph to plan: what the running job, a reviewer and a migration must know about a pipeline.

The plan is a document (``x.plan.json``): settings, policy, sources, stateful operators with the
cells of their state, queries, sinks. Format 1; every list and key is in an order that follows
from the spec.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import singledispatch
from pathlib import Path

from ...dsl.ast.expressions import ColumnRef, Expression
from ...dsl.ast.node import Name, Node
from ...dsl.diagnostics import InternalError
from ...dsl.format import sql
from ...dsl.walk import rewrite
from ..graph.graph import OperatorGraph, Query, StateUse
from ..model import types
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
from .ends import (
    Document,
    column_of,
    describe_code,
    describe_functions,
    describe_source,
    describe_tables,
    mode_of,
    options_of,
    type_text,
)
from .inputs import describe_input
from .origins import Origins

FORMAT = 1


def lower(graph: OperatorGraph, folder: Path | None = None) -> Document:
    """Return the plan of a graph; modules in Python are looked for in a folder."""
    pipeline = graph.pipeline
    settings, policy = pipeline.settings, pipeline.checkpoint
    origins = Origins(pipeline)
    modes = {name: query.output_mode for query in graph.queries for name in query.sinks}
    return {
        "format": FORMAT,
        "pipeline": settings.pipeline,
        "version": settings.version,
        "description": settings.description,
        "spec": pipeline.spec_name,
        "settings": settings.as_dict(),
        "checkpoint": {
            "every": policy.every.text,
            "retain": policy.retain,
            "timeout": policy.timeout.text,
            "tolerate": policy.tolerate,
        },
        **describe_functions(pipeline.python_functions(), folder),
        "sources": {s.name: describe_source(s) for s in pipeline.sources},
        **describe_tables(pipeline.tables),
        "operators": {
            s.id: _operator(r, s, origins) | describe_code(s, folder) for r, s in graph.stateful()
        },
        "queries": {q.id: _query(q) for q in graph.queries},
        "sinks": {
            s.name: {
                "from": s.relation,
                "connector": s.endpoint.connector,
                "options": options_of(s.endpoint),
                "output_mode": modes[s.name],
            }
            | mode_of(s)
            for s in pipeline.sinks
        },
    }


def to_json(plan: Document) -> str:
    """Return the plan as the text of its file."""
    return json.dumps(plan, indent=2, ensure_ascii=False) + "\n"


def _operator(relation: Relation, step: Stateful, origins: Origins) -> Document:
    entry = {"kind": step.kind, "stream": relation.stream} | describe_state(step)
    for part, found in describe_input(step, relation, origins).items():
        if part in entry:
            found = [was | more for was, more in zip(entry[part], found, strict=True)]
        entry[part] = found
    return entry


@singledispatch
def describe_state(step: Stateful) -> Document:
    """Return what a stateful step keeps and under which keys."""
    raise InternalError(f"no handler for {type(step).__name__}")


@describe_state.register
def describe_aggregate(step: Aggregate) -> Document:
    """Describe the groups of an aggregate and the cells of each."""
    return {
        "window": None if step.window is None else _window(step.window),
        "keys": [_key(k) for k in step.keys],
        "emit": "changes" if step.changes else "on window close",
        "aggregates": [_aggregate(c) for c in step.calls],
    }


@describe_state.register
def describe_join(step: Join) -> Document:
    """Describe both sides of a join and how long their rows wait."""
    return {
        "join": step.join,
        "condition": sql(_without_aliases(step, step.condition.expression)),
        "bound": None
        if step.lower is None or step.upper is None
        else {"lower_micros": step.lower, "upper_micros": step.upper},
        "sides": [_side(step, step.left), _side(step, step.right)],
    }


@describe_state.register
def describe_deduplicate(step: Deduplicate) -> Document:
    """Describe the ids that are remembered."""
    return {"keys": [_key(k) for k in step.keys], "within": step.within.text}


@describe_state.register
def describe_top_n(step: TopN) -> Document:
    """Describe the rows that wait for their window to close."""
    order = [f"{o.column} {'desc' if o.descending else 'asc'}" for o in step.order]
    return {
        "keys": [{"name": name, "type": None} for name in step.keys],
        "rows": list(step.columns),
        "order": order,
        "limit": step.limit,
        "aggregates": [
            {
                "id": "collect_list(rows)",
                "function": "collect_list",
                "filter": None,
                "cells": [{"id": "collect_list(rows)", "buffer": "buf", "type": "BINARY"}],
            }
        ],
    }


@describe_state.register
def describe_program(step: Operator) -> Document:
    """Describe what a program reads, what it has for each key, and what it gives."""
    return {
        **_panes(step.panes),
        "keys": [{"name": key.name, "type": type_text(key.type)} for key in step.keys],
        "inputs": [
            {"alias": one.alias, "relation": one.relation, "event_time": one.event_time}
            for one in step.inputs
        ],
        "ordered": step.ordered,
        "cells": [_cell(cell) for cell in step.cells],
        "timers": [
            {"id": timer.name, "time": "processing" if timer.processing else "event"}
            for timer in step.timers
        ],
        "returns": [column_of(field) for field in step.returns],
        **({} if step.python is None else {"handlers": "python", "class": step.python}),
    }


def _panes(panes: Panes | None) -> Document:
    """Describe the window of a program that gives panes; others have none."""
    if panes is None:
        return {}
    lengths = {"early": panes.early, "lateness": panes.lateness}
    given = {name: length.text for name, length in lengths.items() if length is not None}
    return {"window": _window(panes.window), "panes": given}


def _cell(cell: Cell) -> Document:
    """Describe a cell; one that is read and written by entries has the type of these."""
    entries: Document = {}
    if cell.kind is not CellKind.VALUE:
        entries["entry"] = type_text(cell.entry)
    if cell.kind is CellKind.MAP and isinstance(cell.type, types.Map):
        entries["value"] = type_text(cell.type.value)
    return {
        "id": cell.name,
        "kind": cell.kind.value,
        "type": type_text(cell.type),
        **entries,
        "default": None if cell.default is None else sql(cell.default.expression),
        "ttl": None if cell.ttl is None else cell.ttl.text,
    }


def _time(expression: Expression) -> str:
    """Return the column that a window is over; the alias of a lookup's stream is no part of it."""
    if isinstance(expression, ColumnRef):
        return sql(ColumnRef(expression.span, expression.parts[-1:]))
    return sql(expression)


def _window(window: Window) -> Document:
    session = window.kind == "session"
    document: Document = {
        "kind": window.kind,
        "column": _time(window.column.expression),
        "size": None if session else window.size.text,
        "slide": window.slide.text if window.kind == "hop" and window.slide else None,
        "gap": window.size.text if session else None,
    }
    # Windows that came later add to the document, so that the plans of others stay as they were.
    if window.kind == "cumulate" and window.slide:
        document["step"] = window.slide.text
    if window.offset is not None:
        document["offset"] = window.offset.text
    if window.processing:
        document["time"] = "processing"
    return document


def _key(key: Key) -> Document:
    return {"name": key.name, "type": type_text(key.value.type)}


def _aggregate(call: AggregateCall) -> Document:
    condition = call.call.filter
    return {
        "id": call.id,
        "function": call.function,
        "filter": None if condition is None else sql(condition),
        "cells": [
            {"id": id_, "buffer": cell.buffer, "type": type_text(cell.type)}
            | ({} if cell.scale is None else {"scale": cell.scale})
            for id_, cell in zip(_cell_ids(call), call.cells, strict=True)
        ],
    } | _given(call)


def _given(call: AggregateCall) -> Document:
    """Return the types of what an aggregate is given, where its cells do not tell them.

    That is where they are Spark's own form of values, or made of hashes, which go by the type.
    """
    opaque = any(c.type == types.BINARY or c.buffer.startswith("MS[") for c in call.cells)
    return {"given": [type_text(type_) for type_ in call.given]} if opaque else {}


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


def _side(step: Join, side: JoinSide) -> Document:
    keys = [(_without_aliases(step, k.expression), k.type) for k in side.keys]
    window = {} if side.window is None else {"window": _window(side.window)}
    return window | {
        "relation": side.relation,
        "keys": [{"name": sql(key), "type": type_text(type_)} for key, type_ in keys],
        "columns": [column_of(f) for f in side.schema],
        "event_time": side.event_time,
    }


def _query(query: Query) -> Document:
    return {
        "relation": query.relation,
        "output_mode": query.output_mode,
        "sinks": list(query.sinks),
        "sources": list(query.sources),
        **({"tables": list(query.tables)} if query.tables else {}),
        "operators": [_use(use) for use in query.states],
    }


def _use(use: StateUse) -> Document:
    document: Document = {"id": use.step.id}
    match use.step:
        case Join(left=left, right=right):
            kept = zip((left.schema, right.schema), use.columns, strict=True)
            document["columns"] = [_kept(schema, names) for schema, names in kept]
        case Operator(inputs=inputs, ordered=True):
            document["waiting"] = {
                given.alias: _kept(given.schema, names)
                for given, names in zip(inputs, use.columns, strict=True)
            }
        case Deduplicate() | Operator():
            pass
        case _:
            document["aggregates"] = list(use.aggregates)
    return document


def _kept(schema: Schema, names: Iterable[str]) -> list[Document]:
    return [column_of(_found(schema, name)) for name in names]


def _found(schema: Schema, name: str) -> Field:
    field = schema.find(name)
    if field is None:
        raise InternalError(f"no column {name}")
    return field
