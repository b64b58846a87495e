"""Specs of the tests, compiled once each."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from streamc.compiler.driver import CompileResult, compile_source, output_files
from streamc.dsl.diagnostics import Severity
from streamc.dsl.source import SourceFile


@cache
def compiled(path: Path, name: str) -> CompileResult:
    """Return what a file compiles to when it is called ``name``."""
    return compile_source(SourceFile(name, path.read_text(encoding="utf-8")))


def compiled_text(text: str, name: str) -> CompileResult:
    """Return what a text compiles to when it is called ``name``."""
    return compile_source(SourceFile(name, text))


def written(result: CompileResult, folder: Path) -> Path:
    """Write the script and the plan into a folder and return the script's path."""
    files = output_files(result, folder)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return next(iter(files))


def not_run_yet(text: str, severities: Iterable[Severity]) -> set[str]:
    """Return the code that a spec with operators gives besides what is looked for.

    Nothing runs the Python class of an operator yet, so one without an error is refused. That none
    is refused too early is what this is for: the code must be there, and once such operators run
    this has to go.
    """
    is_right = Severity.ERROR not in severities
    return {"SC0801"} if is_right and "USING PYTHON" in text else set()
