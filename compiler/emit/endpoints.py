"""Sources and sinks: the calls of the running job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..connectors.interface import Role
from ..connectors.options import UPSERT, Option
from ..connectors.registry import SINKS, SOURCES, TABLES
from ..model.pipeline import Endpoint, Sink, Source, Table
from ..model.schema import Field
from ..pyspark import columns
from ..pyspark.layout import Call, Chain, assignment
from ..pyspark.literals import quoted, template
from ..pyspark.variables import unfiltered

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def emit_source(source: Source) -> list[str]:
    """Return the paragraph of a source."""
    arguments = (
        quoted(source.name),
        f"connector={quoted(source.endpoint.connector)}",
        _schema(source.columns),
        *_metadata(source),
        *_malformed(source),
        *_options(source.endpoint, SOURCES),
    )
    calls = [
        Call("withColumn", (quoted(c.name), columns.value(c.value.expression)))
        for c in source.computed
    ]
    comment = f"    # {source.name}: {_words(source.endpoint)} source"
    future = source.future_rows
    head: str | Call = Call("job.read", arguments, open=True)
    above: list[str] = []
    if future is not None:
        if future.to is not None:
            above = assignment(unfiltered(source.name), Chain(head, tuple(calls)))
            head, calls = unfiltered(source.name), []
        calls.append(Call("where", (columns.condition(future.kept),)))
    if source.watermark is not None:
        mark = source.watermark
        calls.append(Call("withWatermark", (quoted(_name(mark.column)), quoted(mark.delay.text))))
    return [comment, *above, *assignment(source.name, Chain(head, tuple(calls)))]


def emit_table(table: Table) -> list[str]:
    """Return the paragraph of reference data."""
    refresh = () if table.refresh is None else (f"refresh={quoted(table.refresh.text)}",)
    arguments = (
        quoted(table.name),
        f"connector={quoted(table.endpoint.connector)}",
        _schema(table.columns),
        *_options(table.endpoint, TABLES),
        *refresh,
    )
    calls = tuple(
        Call("withColumn", (quoted(c.name), columns.value(c.value.expression)))
        for c in table.computed
    )
    often = "once a run" if table.refresh is None else f"every {table.refresh}"
    return [
        f"    # {table.name}: {_words(table.endpoint)} table, read {often}",
        *assignment(table.name, Chain(Call("job.table", arguments, open=True), calls)),
    ]


def _schema(fields: tuple[Field, ...]) -> str:
    lines = "\n".join(
        f"    {quoted(_declaration(f.name, str(f.type), f.nullable))}," for f in fields
    )
    return f"schema=[\n{lines}\n]"


def _metadata(source: Source) -> Iterator[str]:
    if source.metadata:
        lines = "\n".join(f"    {quoted(m.field.name)}: {quoted(m.key)}," for m in source.metadata)
        yield f"metadata={{\n{lines}\n}}"


def _malformed(source: Source) -> Iterator[str]:
    """Yield the policy; the default is not written."""
    if source.malformed_rows.action != "fail":
        yield f"malformed_rows={quoted(source.malformed_rows.action)}"


def emit_sink(sink: Sink, output_mode: str) -> list[str]:
    """Return the paragraph of a sink."""
    arguments = (
        quoted(sink.name),
        sink.relation,
        f"connector={quoted(sink.endpoint.connector)}",
        f"output_mode={quoted(output_mode)}",
        *_options(sink.endpoint, SINKS),
        *_mode(sink),
    )
    call = Call("job.sink", arguments, open=True)
    return [f"    # {sink.name}: {_words(sink.endpoint)} sink", *call.lines("", "    ")]


def _mode(sink: Sink) -> Iterator[str]:
    """Yield how rows are replaced; nothing for a sink that only adds rows."""
    if sink.upsert:
        yield f"mode={quoted(UPSERT)}"
    if sink.key:
        yield f"key=[{', '.join(quoted(name) for name in sink.key)}]"
    if sink.latest_by is not None:
        yield f"latest_by={quoted(sink.latest_by)}"


def _words(endpoint: Endpoint) -> str:
    form = endpoint.option("format")
    return f"{endpoint.connector} {form}" if form else endpoint.connector


def _declaration(name: str, type_: str, nullable: bool) -> str:
    return f"{_name(name)} {type_}{'' if nullable else ' NOT NULL'}"


def _name(column: str) -> str:
    """Return a column where Spark parses a name: any word is allowed there without backticks."""
    return column if _PLAIN.fullmatch(column) else "`" + column.replace("`", "``") + "`"


def _options(endpoint: Endpoint, known: Mapping[str, Role]) -> tuple[str, ...]:
    role = known[endpoint.connector]
    options = [f"{name}={_option(role.option(name), text)}" for name, text in endpoint.options]
    if endpoint.passed:
        lines = "\n".join(f"    {quoted(n)}: {template(v)}," for n, v in endpoint.passed)
        options.append(f"options={{\n{lines}\n}}")
    return tuple(options)


def _option(option: Option | None, text: str) -> str:
    if option is not None and option.kind.literal is not None and "${" not in text:
        return option.kind.literal(text)
    return template(text)
