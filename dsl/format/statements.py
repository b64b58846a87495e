"""Statements and whole specs as text, laid out as in the language reference."""

from __future__ import annotations

from functools import singledispatch

from ..ast.statements import (
    Checkpoint,
    Column,
    CreateAggregate,
    CreateFunction,
    CreateOperator,
    CreateSink,
    CreateSource,
    CreateStream,
    CreateTable,
    FutureRows,
    MalformedRows,
    Option,
    Spec,
    Statement,
    Watermark,
)
from ..diagnostics import InternalError
from .expressions import as_operand, as_written
from .layout import appended, bracketed, indented, joined, separated
from .programs import operator_lines, parameter_text
from .queries import query_lines
from .types import type_sql
from .words import identifier, string


def format_spec(spec: Spec) -> str:
    """Return the text of a spec; read back it gives the same tree. Comments are not in the tree."""
    blocks: list[str] = []
    if spec.front_matter is not None:
        blocks.append(f"---\n{spec.front_matter.text}---")
    previous: Statement | None = None
    for statement in spec.statements:
        text = format_statement(statement)
        if isinstance(statement, CreateSink) and isinstance(previous, CreateSink):
            blocks[-1] += f"\n{text}"
        else:
            blocks.append(text)
        previous = statement
    return "\n\n".join(blocks) + "\n" if blocks else ""


def format_statement(statement: Statement) -> str:
    """Return the text of a statement with its semicolon."""
    return "\n".join(appended(_lines(statement), ";"))


@singledispatch
def _lines(statement: Statement) -> list[str]:
    raise InternalError(f"no text for {type(statement).__name__}")


@_lines.register
def _checkpoint(node: Checkpoint) -> list[str]:
    text = f"CHECKPOINT EVERY {as_written(node.every)}"
    if node.retain is not None:
        text += f" RETAIN {node.retain}"
    if node.timeout is not None:
        text += f" TIMEOUT {as_written(node.timeout)}"
    return [text if node.tolerate is None else f"{text} TOLERATE {node.tolerate} FAILURES"]


@_lines.register
def _source(node: CreateSource) -> list[str]:
    elements = [*_columns(node.columns), *map(_watermark, node.watermarks)]
    lines = [f"CREATE SOURCE {identifier(node.name.text)} (", *indented(separated(elements)), ")"]
    policies = [_malformed(node.malformed)] if node.malformed else []
    policies += [_future(node.future)] if node.future else []
    if not policies:
        return joined(appended(lines, " "), _with(node.options))
    lines = appended(lines, f" {policies[0]}") + policies[1:]
    return lines + _with(node.options)


@_lines.register
def _table(node: CreateTable) -> list[str]:
    columns = separated(_columns(node.columns))
    head = [f"CREATE TABLE {identifier(node.name.text)} (", *indented(columns), ") "]
    return joined(head, _with(node.options))


@_lines.register
def _stream(node: CreateStream) -> list[str]:
    head = f"CREATE STREAM {identifier(node.name.text)}"
    lines = joined([f"{head} "], _with(node.options)) if node.options else [head]
    return appended(lines, " AS") + indented(query_lines(node.query))


@_lines.register
def _sink(node: CreateSink) -> list[str]:
    head = f"CREATE SINK {identifier(node.name.text)} FROM {identifier(node.stream.text)} "
    return bracketed(f"{head}WITH ", [_option(option) for option in node.options])


@_lines.register
def _function(node: CreateFunction) -> list[str]:
    parameters = ", ".join(map(parameter_text, node.parameters))
    head = f"CREATE FUNCTION {identifier(node.name.text)}({parameters})"
    if node.body is not None:
        return [f"{head} RETURNS {type_sql(node.returns)} RETURN {as_written(node.body)}"]
    return [f"{head} RETURNS {type_sql(node.returns)} AS {string(node.python or '')}"]


@_lines.register
def _aggregate(node: CreateAggregate) -> list[str]:
    parameters = ", ".join(map(parameter_text, node.parameters))
    lifts = [f"{identifier(x.name.text)} = {as_written(x.expression)}" for x in node.lifts]
    combines = [f"{identifier(x.name.text)} = {x.function}" for x in node.combines]
    return [
        f"CREATE AGGREGATE {identifier(node.name.text)}({parameters})",
        f"  LIFT ({', '.join(lifts)})",
        f"  COMBINE ({', '.join(combines)})",
        f"  LOWER {as_written(node.lower)}",
    ]


@_lines.register
def _operator(node: CreateOperator) -> list[str]:
    return operator_lines(node)


def _columns(columns: tuple[Column, ...]) -> list[str]:
    """Return columns with their types one below the other."""
    names = [identifier(column.name.text) for column in columns]
    typed = [len(name) for name, c in zip(names, columns, strict=True) if c.type is not None]
    width = max(typed, default=0)
    return [_column(name, column, width) for name, column in zip(names, columns, strict=True)]


def _column(name: str, column: Column, width: int) -> str:
    if column.type is None:
        if column.expression is None:
            raise InternalError(f"column {name} has neither a type nor an expression")
        return f"{name} AS {as_written(column.expression)}"
    text = f"{name:<{width}} {type_sql(column.type)}"
    if column.metadata_key is not None:
        return f"{text} METADATA FROM {string(column.metadata_key)}"
    return f"{text} NOT NULL" if column.not_null else text


def _watermark(node: Watermark) -> str:
    return f"WATERMARK FOR {identifier(node.column.text)} AS {as_operand(node.expression)}"


def _malformed(node: MalformedRows) -> str:
    return f"ON MALFORMED ROWS {_action(node)}"


def _future(node: FutureRows) -> str:
    return f"ON FUTURE ROWS BEYOND {as_written(node.beyond)} {_action(node)}"


def _action(node: MalformedRows | FutureRows) -> str:
    return f"SEND TO {identifier(node.stream.text)}" if node.stream else node.action


def _with(options: tuple[Option, ...]) -> list[str]:
    return bracketed("WITH ", [_option(option) for option in options])


def _option(option: Option) -> str:
    name = ".".join(identifier(part) for part in option.name.text.split("."))
    return f"{name} = {string(option.value)}"
