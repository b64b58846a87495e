"""A model as text, for people and golden files: one line a column, a step, a declaration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from ...dsl.diagnostics import InternalError
from ...dsl.format import sql
from .declared import DeclaredFunction, PythonFunction, SqlFunction, UserAggregate
from .pipeline import Endpoint, Pipeline, Relation, Sink, Source, Table
from .program_text import operator_lines
from .programs import Operator
from .steps import (
    Aggregate,
    AssignWindow,
    Column,
    Deduplicate,
    EveryRow,
    Filter,
    Join,
    LateRows,
    Lookup,
    Project,
    SideRows,
    Step,
    TopN,
    Union,
    Window,
)


def pipeline_text(pipeline: Pipeline) -> str:
    """Return everything a pipeline declares, resolved and typed."""
    lines = [f"pipeline {pipeline.settings.pipeline} version {pipeline.settings.version}"]
    policy = pipeline.checkpoint
    lines.append(
        f"checkpoint every {policy.every}, retain {policy.retain}, timeout {policy.timeout}, "
        f"tolerate {policy.tolerate}"
    )
    for function in pipeline.functions:
        lines += ["", *function_lines(function)]
    for source in pipeline.sources:
        lines += ["", *_source(source)]
    for table in pipeline.tables:
        lines += ["", *_table(table)]
    for relation in pipeline.relations:
        lines += ["", *_relation(relation)]
    for sink in pipeline.sinks:
        lines += ["", _sink(sink)]
    return "\n".join(lines) + "\n"


@singledispatch
def function_lines(function: DeclaredFunction) -> list[str]:
    """Return the lines that say what a declared function stands for."""
    raise InternalError(f"no text for {type(function).__name__}")


@function_lines.register
def sql_function_lines(function: SqlFunction) -> list[str]:
    """Say a function in SQL."""
    body = function.body
    return [f"function {_head(function)} {body.type} = {sql(body.expression)}"]


@function_lines.register
def python_function_lines(function: PythonFunction) -> list[str]:
    """Say a function in Python."""
    return [f"function {_head(function)} {function.returns.type} = python {function.target}"]


@function_lines.register
def user_aggregate_lines(function: UserAggregate) -> list[str]:
    """Say a user aggregate."""
    lines = [f"aggregate {_head(function)} {function.lower.type}"]
    lines += [
        f"  {part.name} = {part.function.name}({sql(part.lift.expression)})"
        for part in function.accumulators
    ]
    return [*lines, f"  lower {sql(function.lower.expression)}"]


def _head(function: DeclaredFunction) -> str:
    parameters = ", ".join(f"{p.name} {p.type.type}" for p in function.parameters)
    return f"{function.name}({parameters})"


def _source(source: Source) -> Iterator[str]:
    yield f"source {source.name}: {_endpoint(source.endpoint)}"
    for column in source.metadata:
        yield f"  metadata {column.field.name} = {column.key}"
    for computed in source.computed:
        yield f"  computed {_column(computed)}"
    if source.malformed_rows.action != "fail":
        yield f"  malformed rows: {_action(source.malformed_rows.to)}"
    if source.future_rows is not None:
        policy = source.future_rows
        yield f"  future rows beyond {policy.beyond}: {_action(policy.to)}"
    for field in source.schema:
        yield f"  {field}"


def _table(table: Table) -> Iterator[str]:
    refresh = f"every {table.refresh}" if table.refresh is not None else "once"
    yield f"table {table.name}: {_endpoint(table.endpoint)} {refresh}"
    for column in table.computed:
        yield f"  computed {_column(column)}"
    for field in table.schema:
        yield f"  {field}"


def _sink(sink: Sink) -> str:
    mode = " upsert" if sink.upsert else ""
    key = f" by {', '.join(sink.key)}" if sink.key else ""
    latest = f" latest {sink.latest_by}" if sink.latest_by else ""
    return f"sink {sink.name} from {sink.relation}: {_endpoint(sink.endpoint)}{mode}{key}{latest}"


def _action(to: str | None) -> str:
    return "skip" if to is None else f"send to {to}"


def _endpoint(endpoint: Endpoint) -> str:
    options = [*endpoint.options, *((f"spark.{n}", v) for n, v in endpoint.passed)]
    return " ".join([endpoint.connector, *(f"{name}={value!r}" for name, value in options)])


def _relation(relation: Relation) -> Iterator[str]:
    changes = ", changes" if relation.changes else ""
    yield f"relation {relation.name} from {', '.join(relation.inputs)}{changes}"
    for step in relation.steps:
        for line in step_lines(step):
            yield f"  {line}"
    for field in relation.schema:
        yield f"  {field}"


@singledispatch
def step_lines(step: Step) -> list[str]:
    """Return the lines that say what a step does."""
    raise InternalError(f"no text for {type(step).__name__}")


@step_lines.register
def side_lines(step: SideRows) -> list[str]:
    """Say which rows a side stream has."""
    condition = "" if step.condition is None else f": {sql(step.condition.expression)}"
    return [f"{step.policy} rows of {step.source}{condition}"]


@step_lines.register
def filter_lines(step: Filter) -> list[str]:
    """Say a filter."""
    return [f"filter {sql(step.condition.expression)}"]


@step_lines.register
def project_lines(step: Project) -> list[str]:
    """Say a projection."""
    return ["project", *(f"  {_column(c)}" for c in step.columns)]


@step_lines.register
def late_lines(step: LateRows) -> list[str]:
    """Say which rows are late."""
    of = f" in {_window(step.window)}" if step.window is not None else ""
    after = f" after {step.lateness}" if step.lateness is not None else ""
    return [f"late rows of {step.operator} by {step.time}{of}{after}"]


@step_lines.register
def every_row_lines(step: EveryRow) -> list[str]:
    """Say that all rows move the watermark."""
    return ["every row"]


@step_lines.register
def assign_window_lines(step: AssignWindow) -> list[str]:
    """Say a window of rows."""
    return [f"assign {_window(step.window)}"]


@step_lines.register
def aggregate_lines(step: Aggregate) -> list[str]:
    """Say an aggregate with its keys, its columns and the cells of its state."""
    window = f" {_window(step.window)}" if step.window is not None else ""
    lines = [f"aggregate {step.id}{window}{', changes' if step.changes else ''}"]
    lines += [f"  key {k.name} = {sql(k.value.expression)}" for k in step.keys]
    lines += [f"  {_column(c)}" for c in step.columns]
    for call in step.calls:
        cells = ", ".join(f"{cell.buffer} {cell.type}" for cell in call.cells)
        lines.append(f"  state {call.id}: {cells}")
    return lines


@step_lines.register
def join_lines(step: Join) -> list[str]:
    """Say a join with its keys and its bound."""
    lines = [f"{step.join} join {step.id}"]
    for side in (step.left, step.right):
        keys = ", ".join(sql(k.expression) for k in side.keys)
        lines.append(f"  {side.relation} as {side.alias} by {keys} at {side.event_time}")
    lines.append(f"  on {sql(step.condition.expression)}")
    if step.left.window is not None:
        lines.append(f"  in the same {_window(step.left.window)}")
    else:
        lines.append(f"  right minus left time from {step.lower} to {step.upper} microseconds")
    return lines


@step_lines.register
def lookup_lines(step: Lookup) -> list[str]:
    """Say a lookup."""
    left = f"{step.left} " if step.left is not None else ""
    lines = [f"{step.join} lookup {left}in {step.table} as {step.alias}"]
    return [*lines, f"  on {sql(step.condition.expression)}"]


@step_lines.register
def deduplicate_lines(step: Deduplicate) -> list[str]:
    """Say a deduplication."""
    return [f"deduplicate {step.id} by {', '.join(k.name for k in step.keys)} within {step.within}"]


@step_lines.register
def top_n_lines(step: TopN) -> list[str]:
    """Say a top-N."""
    order = [
        f"{o.column} {'desc' if o.descending else 'asc'} "
        f"nulls {'first' if o.nulls_first else 'last'}"
        for o in step.order
    ]
    return [
        f"top {step.limit} {step.id} closed by {step.time}",
        f"  keys {', '.join(step.keys)}",
        f"  order {', '.join(order)}",
        f"  output {', '.join(step.output)}",
    ]


@step_lines.register
def program_lines(step: Operator) -> list[str]:
    """Say an operator with its state and its program."""
    return list(operator_lines(step))


@step_lines.register
def union_lines(step: Union) -> list[str]:
    """Say a union with its branches."""
    lines = ["union"]
    for branch in step.branches:
        lines.append(f"  from {branch.input}")
        lines += [f"    {line}" for inner in branch.steps for line in step_lines(inner)]
    return lines


def _column(column: Column) -> str:
    return f"{column.name} {column.value.type} = {sql(column.value.expression)}"


def _window(window: Window) -> str:
    slide = f" every {window.slide}" if window.slide is not None else ""
    offset = f" offset {window.offset}" if window.offset is not None else ""
    return f"{window.kind} {sql(window.column.expression)} {window.size}{slide}{offset}"
