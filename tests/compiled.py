"""Specs of the tests, compiled once each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from streamc.compiler.driver import CompileResult, compile_source, output_files
from streamc.contracts.plan import Plan
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile


@cache
def compiled(path: Path, name: str) -> CompileResult:
    """Return what a file compiles to under the name ``name``."""
    return compile_source(SourceFile(name, path.read_text(encoding="utf-8")))


def compiled_text(text: str, name: str) -> CompileResult:
    """Return what a text compiles to under the name ``name``."""
    return compile_source(SourceFile(name, text))


def plan_in(result: CompileResult) -> Plan:
    """Return the plan of what compiles."""
    assert result.plan is not None, render([result.diagnostics])
    return result.plan


def written(result: CompileResult, folder: Path) -> Path:
    """Write the script and the plan into a folder and return the script's path."""
    files = output_files(result, folder)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return next(iter(files))
