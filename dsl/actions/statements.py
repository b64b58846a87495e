"""Actions of ``statements.lark``."""

from __future__ import annotations

from ..ast.expressions import Expression, Interval
from ..ast.node import Name
from ..ast.queries import Query
from ..ast.statements import (
    Checkpoint,
    Column,
    Combine,
    CreateAggregate,
    CreateFunction,
    CreateSink,
    CreateSource,
    CreateStream,
    CreateTable,
    FutureRows,
    Lift,
    MalformedRows,
    Option,
    Parameter,
    Watermark,
)
from ..ast.types import TypeNode
from ..reports.source import Span
from ..syntax.mistakes import repeated_policy
from ..syntax.spelling import text_of


def checkpoint(
    span: Span, every: Interval, retain: str | None, timeout: Interval | None, tolerate: str | None
) -> Checkpoint:
    return Checkpoint(
        span,
        every,
        None if retain is None else int(retain),
        timeout,
        None if tolerate is None else int(tolerate),
    )


def options(_span: Span, *items: Option) -> tuple[Option, ...]:
    return items


def option(span: Span, name: Name, value: tuple[str, Span]) -> Option:
    return Option(span, name, *value)


def option_name(span: Span, *parts: Name) -> Name:
    return Name(span, ".".join(part.text for part in parts))


def option_value(span: Span, text: str) -> tuple[str, Span]:
    if text[0] in "'\"" or text[1:2] in ("'", '"'):
        return (text_of(text), span)
    return (text.lower(), span)


def create_source(
    span: Span,
    name: Name,
    elements: tuple[Column | Watermark, ...],
    policies: tuple[MalformedRows | FutureRows, ...],
    options_: tuple[Option, ...],
) -> CreateSource:
    malformed = [policy for policy in policies if isinstance(policy, MalformedRows)]
    future = [policy for policy in policies if isinstance(policy, FutureRows)]
    for policies_, words in ((malformed, "ON MALFORMED ROWS"), (future, "ON FUTURE ROWS")):
        if len(policies_) > 1:
            raise repeated_policy(policies_[1].span, words)
    return CreateSource(
        span,
        name,
        tuple(element for element in elements if isinstance(element, Column)),
        tuple(element for element in elements if isinstance(element, Watermark)),
        malformed[0] if malformed else None,
        future[0] if future else None,
        options_,
    )


def source_elements(_span: Span, *items: Column | Watermark) -> tuple[Column | Watermark, ...]:
    return items


def watermark(span: Span, column: Name, expression: Expression) -> Watermark:
    return Watermark(span, column, expression)


def column_typed(span: Span, name: Name, type_: TypeNode, not_null: str | None = None) -> Column:
    return Column(span, name, type_, not_null is not None)


def column_metadata(span: Span, name: Name, type_: TypeNode, key: str) -> Column:
    return Column(span, name, type_, metadata_key=text_of(key))


def column_computed(span: Span, name: Name, expression: Expression) -> Column:
    return Column(span, name, None, expression=expression)


def row_policies(
    _span: Span, *items: MalformedRows | FutureRows
) -> tuple[MalformedRows | FutureRows, ...]:
    return items


def malformed_rows(span: Span, action: str) -> MalformedRows:
    return MalformedRows(span, action.upper(), None)


def malformed_rows_send(span: Span, stream: Name) -> MalformedRows:
    return MalformedRows(span, "SEND", stream)


def future_rows(span: Span, beyond: Interval, action: str) -> FutureRows:
    return FutureRows(span, beyond, action.upper(), None)


def future_rows_send(span: Span, beyond: Interval, stream: Name) -> FutureRows:
    return FutureRows(span, beyond, "SEND", stream)


def create_table(
    span: Span, name: Name, columns: tuple[Column, ...], options_: tuple[Option, ...]
) -> CreateTable:
    return CreateTable(span, name, columns, options_)


def table_columns(_span: Span, *items: Column) -> tuple[Column, ...]:
    return items


def create_stream(
    span: Span, name: Name, options_: tuple[Option, ...] | None, query: Query
) -> CreateStream:
    return CreateStream(span, name, options_ or (), query)


def create_sink(span: Span, name: Name, stream: Name, options_: tuple[Option, ...]) -> CreateSink:
    return CreateSink(span, name, stream, options_)


def create_python_function(
    span: Span, name: Name, parameters_: tuple[Parameter, ...], returns: TypeNode, python: str
) -> CreateFunction:
    return CreateFunction(span, name, parameters_, returns, text_of(python), None)


def create_sql_function(
    span: Span, name: Name, parameters_: tuple[Parameter, ...], returns: TypeNode, body: Expression
) -> CreateFunction:
    return CreateFunction(span, name, parameters_, returns, None, body)


def parameters(_span: Span, *items: Parameter | None) -> tuple[Parameter, ...]:
    return tuple(item for item in items if item is not None)


def parameter(span: Span, name: Name, type_: TypeNode) -> Parameter:
    return Parameter(span, name, type_)


def create_aggregate(
    span: Span,
    name: Name,
    parameters_: tuple[Parameter, ...],
    lifts_: tuple[Lift, ...],
    combines_: tuple[Combine, ...],
    lower: Expression,
) -> CreateAggregate:
    return CreateAggregate(span, name, parameters_, lifts_, combines_, lower)


def lifts(_span: Span, *items: Lift) -> tuple[Lift, ...]:
    return items


def lift(span: Span, name: Name, expression: Expression) -> Lift:
    return Lift(span, name, expression)


def combines(_span: Span, *items: Combine) -> tuple[Combine, ...]:
    return items


def combine(span: Span, name: Name, function: Name) -> Combine:
    return Combine(span, name, function.text.upper())
