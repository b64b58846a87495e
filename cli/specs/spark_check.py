"""What Spark refuses and the compiler can't see, reported at its location in the spec.

The emitted script is built on empty sources. An error of Spark has a line of the script, or a
query: each paragraph is one relation of the spec, or a source, or a sink.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...compiler.driver import CompileResult, output_files
from ...dsl.ast.expressions import Expression, FieldAccess
from ...dsl.ast.statements import CreateSource, CreateStream
from ...dsl.ast.walk import walk
from ...dsl.format import sql
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...dsl.reports.source import Span
from ...runtime.stepping.analysis import Refusal, refusals
from ...runtime.stepping.runs import step_spark
from ..shared.output import write_if_changed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_on_spark(
    results: Iterable[CompileResult], spark: SparkSession | None = None
) -> list[Diagnostics]:
    """Return what Spark refuses in specs that compile, in the order of the specs.

    A Spark is started unless one is given; nothing of the user's is read or written. Raises
    ``RuntimeFault`` when Spark can't be started.
    """
    with TemporaryDirectory(prefix="streamc-check-") as folder:
        root = Path(folder).resolve()
        with step_spark(root / "spark", spark) as base:
            return [
                _found(result, root / str(number), base) for number, result in enumerate(results)
            ]


def _found(result: CompileResult, root: Path, spark: SparkSession) -> Diagnostics:
    files = output_files(result, root / "build")
    write_if_changed(files)
    diagnostics = Diagnostics(result.source)
    script = next(iter(files))
    folders = (str(Path(result.source.name).resolve().parent), os.getcwd())
    for refusal in refusals(script, root / "run", spark, folders=folders, tell=_tell):
        diagnostics.add(_diagnostic(refusal, result))
    return diagnostics


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _diagnostic(refusal: Refusal, result: CompileResult) -> Diagnostic:
    assert result.script is not None
    name = refusal.query
    if refusal.line is not None:
        name = _paragraph(result.script, refusal.line)
    first, *rest = refusal.reason.splitlines()
    notes = ["\n".join(rest)] if rest else []
    message = f"Spark rejects this: {first.removesuffix('.')}"
    if refusal.error is not None and refusal.error.startswith("SR"):
        message = first
        notes.append(f"a run would end with {refusal.error}")
    elif refusal.error is not None:
        notes.append(f"Spark calls it {refusal.error}")
    place = Label(_place(refusal, name, result))
    return Diagnostic(codes.SPARK_REFUSES, message, place, notes=tuple(notes), help=refusal.help)


def _paragraph(script: str, line: int) -> str | None:
    """Return the name of the paragraph of a script that holds a line."""
    build = next(
        node
        for node in ast.parse(script).body
        if isinstance(node, ast.FunctionDef) and node.name == "build"
    )
    for node in build.body:
        if not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                return name
            case ast.Expr(value=ast.Call(args=[ast.Constant(value=str(name)), *_])):
                return name
    return None


def _place(refusal: Refusal, name: str | None, result: CompileResult) -> Span:
    """Return the expression that Spark means, else the name of its statement."""
    assert result.model is not None and result.spec is not None
    stream = next((r.stream for r in result.model.relations if r.name == name), name)
    for statement in result.spec.statements:
        if isinstance(statement, CreateSource | CreateStream) and statement.name.text == stream:
            span = _expression(refusal, statement)
            if span is not None:
                return span
    spans = {
        **{function.name: function.span for function in result.model.functions},
        **{source.name: source.span for source in result.model.sources},
        **{relation.name: relation.span for relation in result.model.relations},
        **{sink.name: sink.span for sink in result.model.sinks},
    }
    return spans.get(name or "", Span(0, 0))


def _expression(refusal: Refusal, statement: CreateSource | CreateStream) -> Span | None:
    """Return the location of the SQL text that Spark points at, or of the field that it names."""
    expressions = [node for node in walk(statement) if isinstance(node, Expression)]
    fragment = (refusal.fragment or "").lower()
    found = [node.span for node in expressions if sql(node).lower() == fragment]
    if not found:
        names = re.findall(r"`(\w+)`", refusal.reason)[:1]
        fields = [node.field for node in expressions if isinstance(node, FieldAccess)]
        found = [field.span for field in fields if field.text in names]
    return found[0] if len(set(found)) == 1 else None
