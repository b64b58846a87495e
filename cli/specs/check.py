"""``streamc check``: is anything wrong in these specs?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ..shared.report import (
    Format,
    UserError,
    faults,
    print_diagnostics,
    print_error,
    remember_secrets,
)
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
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again whenever a file changes, until Ctrl-C.")
    ] = False,
) -> None:
    """Check specs: syntax, names, types, time and state.

    Spark is started only with --spark. Diagnostics go to standard error; those for programs (json,
    github, sarif, junit) go to standard output.
    """
    if watch:
        _watch(paths, format, name, spark)
    if _check(_sources(paths, name), format, spark):
        raise typer.Exit(2)


def _watch(paths: Sequence[Path], format: CheckFormat, name: Path | None, spark: bool) -> NoReturn:
    """Check now and at each change; raises ``UserError`` for what can't be repeated."""
    from .watching import repeat_on_change

    if format not in (CheckFormat.FULL, CheckFormat.CONCISE):
        raise UserError(f"--watch prints for people, not {format.value}", "leave one of them out")
    if spark:
        raise UserError("--watch does not start Spark", "leave out --spark")
    if only_stdin(paths):
        raise UserError("standard input can't be watched", "give paths in place of `-`")
    # A path that was mistyped is no file that will come.
    _sources(paths, name)

    def once(changed: Sequence[Path]) -> None:
        if changed:
            print(f"\nchanged: {', '.join(path.as_posix() for path in changed)}", file=sys.stderr)
        try:
            _check(_sources(paths, name), format, spark=False)
        except UserError as error:
            print_error(error)
        sys.stdout.flush()

    try:
        repeat_on_change(paths, once)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise typer.Exit(130) from None


def _check(sources: Sequence[SourceFile], format: CheckFormat, spark: bool) -> bool:
    """Check specs and print what was found; return whether there are errors."""
    from ...compiler.driver import compile_source

    last = "script" if spark else "graph"
    results = [compile_source(source, stop_after=last) for source in sources]
    found = [result.diagnostics for result in results]
    if spark:
        found += _on_spark([r for r in results if not r.diagnostics.has_errors])
    failed = _print(found, format)
    if format is CheckFormat.FULL and not failed:
        how = "checked on Spark" if spark else "checked"
        print(f"{len(sources)} spec{'s' if len(sources) > 1 else ''} {how}, no errors")
    return failed


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
