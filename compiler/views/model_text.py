"""A model as text, for people and golden files: one line per column, step or declaration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from ...dsl.format import sql
from ...dsl.reports.diagnostics import InternalError
from ..model.declared import DeclaredFunction, PythonFunction, SqlFunction, UserAggregate
from ..model.pipeline import Endpoint, Pipeline, Relation, Sink, Source, Table
from ..operators.registry import kind_of


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
    """Return the lines that describe a declared function."""
    raise InternalError(f"no text for {type(function).__name__}")


@function_lines.register
def sql_function_lines(function: SqlFunction) -> list[str]:
    """Describe a SQL function."""
    body = function.body
    return [f"function {_head(function)} {body.type} = {sql(body.expression)}"]


@function_lines.register
def python_function_lines(function: PythonFunction) -> list[str]:
    """Describe a Python function."""
    return [f"function {_head(function)} {function.returns.type} = python {function.target}"]


@function_lines.register
def user_aggregate_lines(function: UserAggregate) -> list[str]:
    """Describe a user aggregate."""
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
        yield f"  computed {computed}"
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
        yield f"  computed {column}"
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
        for line in kind_of(step).lines(step):
            yield f"  {line}"
    for field in relation.schema:
        yield f"  {field}"
