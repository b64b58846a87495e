"""``streamc check``: is anything wrong in these specs?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.report import Format, UserError, faults, print_diagnostics, remember_secrets
from ..shared.spec_files import only_stdin, read_specs, read_stdin

if TYPE_CHECKING:
    from ...compiler.driver import CompileResult
    from ...dsl.reports.diagnostics import Diagnostics
    from ...dsl.reports.source import SourceFile

_UNNAMED = Path("stdin.stream")


class CheckFormat(StrEnum):
    """How diagnostics are printed, also for other tools."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"
    JUNIT = "junit"


def check(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATHS...",
            help="Specs, or folders with specs; `-` checks standard input.",
            show_default=False,
        ),
    ],
    format: Annotated[
        CheckFormat, typer.Option("--format", help="Output format of diagnostics.")
    ] = CheckFormat.FULL,
    name: Annotated[
        Path | None,
        typer.Option(
            "--name", metavar="FILE", help="With `-`: the file that the text is of, or will be."
        ),
    ] = None,
    spark: Annotated[
        bool,
        typer.Option("--spark", help="Also let Spark analyze the specs, on empty sources."),
    ] = False,
) -> None:
    """Check specs: syntax, names, types, time and state.

    Spark is started only with --spark. Diagnostics go to standard error; those for programs (json,
    github, sarif, junit) go to standard output.
    """
    sources = _sources(paths, name)

    from ...compiler.driver import compile_source

    last = "script" if spark else "graph"
    results = [compile_source(source, stop_after=last) for source in sources]
    found = [result.diagnostics for result in results]
    if spark:
        found += _on_spark([r for r in results if not r.diagnostics.has_errors])
    if _print(found, format):
        raise typer.Exit(2)
    if format is CheckFormat.FULL:
        how = "checked on Spark" if spark else "checked"
        print(f"{len(sources)} spec{'s' if len(sources) > 1 else ''} {how}, no errors")


def _sources(paths: Sequence[Path], name: Path | None) -> list[SourceFile]:
    if only_stdin(paths):
        from ...dsl.reports.source import SourceFile

        named = name or _UNNAMED
        return [SourceFile(named.as_posix(), read_stdin().replace("\r\n", "\n"), named.parent)]
    if name is not None:
        raise UserError("--name is for standard input", "give `-` in place of paths, or no --name")
    return read_specs(paths)


def _print(found: Sequence[Diagnostics], format: CheckFormat) -> bool:
    """Print what was found; return whether there are errors."""
    from ..formats import RENDERERS

    if format.value not in RENDERERS:
        return print_diagnostics(found, Format(format.value))
    remember_secrets(found)
    sys.stdout.write(RENDERERS[format.value](found))
    return any(one.has_errors for one in found)


def _on_spark(results: Sequence[CompileResult]) -> list[Diagnostics]:
    if not results:
        return []

    from .spark_check import check_on_spark

    with faults():
        return check_on_spark(results)
