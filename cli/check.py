"""``streamc check``: is anything wrong in these specs?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .report import Format, FormatOption, faults, print_diagnostics
from .spec_files import PathsArgument, read_specs

if TYPE_CHECKING:
    from ..compiler.driver import CompileResult
    from ..dsl.diagnostics import Diagnostics


def check(
    paths: PathsArgument,
    format: FormatOption = Format.FULL,
    spark: Annotated[
        bool,
        typer.Option("--spark", help="Also let Spark analyze the specs, on empty sources."),
    ] = False,
) -> None:
    """Check specs: syntax, names, types, time and state.

    Spark is started only with --spark. Diagnostics go to standard error; JSON, for programs, goes
    to standard output.
    """
    sources = read_specs(paths)

    from ..compiler.driver import compile_source

    last = "script" if spark else "graph"
    results = [compile_source(source, stop_after=last) for source in sources]
    found = [result.diagnostics for result in results]
    if spark:
        found += _on_spark([r for r in results if not r.diagnostics.has_errors])
    stream = sys.stdout if format is Format.JSON else sys.stderr
    if print_diagnostics(found, format, stream):
        raise typer.Exit(2)
    if format is Format.FULL:
        how = "checked on Spark" if spark else "checked"
        print(f"{len(sources)} spec{'s' if len(sources) > 1 else ''} {how}, no errors")


def _on_spark(results: Sequence[CompileResult]) -> list[Diagnostics]:
    if not results:
        return []

    from .spark_check import check_on_spark

    with faults():
        return check_on_spark(results)
