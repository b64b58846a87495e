"""``streamc compile``: specs to PySpark scripts and their plans."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import difference, write_if_changed
from .report import Format, FormatOption, UserError, print_diagnostics
from .spec_files import PathsArgument, read_specs

if TYPE_CHECKING:
    from ..compiler.driver import CompileResult


class Phase(StrEnum):
    """The phases after which one may stop and look."""

    AST = "ast"
    MODEL = "model"
    GRAPH = "graph"
    PLAN = "plan"
    SCRIPT = "script"


def compile_specs(
    paths: PathsArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder of the emitted files.")
    ] = Path("build"),
    stop_after: Annotated[
        Phase | None,
        typer.Option(help="Print what this phase makes of the specs, and write nothing."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit code 1 and a diff if files are stale."),
    ] = False,
    format: FormatOption = Format.FULL,
) -> None:
    """Compile specs to PySpark: a script and its plan for each, in the output folder."""
    if check and stop_after is not None:
        raise UserError("--check and --stop-after exclude each other")
    sources = read_specs(paths)

    from ..compiler.driver import compile_source

    last = Phase.SCRIPT if stop_after is None else stop_after
    results = [compile_source(source, stop_after=last.value) for source in sources]
    failed = print_diagnostics([result.diagnostics for result in results], format)
    good = [result for result in results if not result.diagnostics.has_errors]
    if stop_after is not None:
        _print_phase(good, stop_after)
        raise typer.Exit(2 if failed else 0)
    files = _files(good, output)
    stale = _print_stale(files) if check else _write(files)
    raise typer.Exit(2 if failed else int(stale))


def _print_phase(results: Sequence[CompileResult], phase: Phase) -> None:
    for result in results:
        if len(results) > 1:
            print(f"==> {result.source.name} <==")
        print(result.text(phase.value).rstrip("\n"))


def _files(results: Sequence[CompileResult], output: Path) -> list[dict[Path, str]]:
    """Return the files of each spec; raises ``UserError`` when two specs make the same one."""
    from ..compiler.driver import output_files

    owners: dict[str, str] = {}
    files = []
    for result in results:
        assert result.model is not None
        name = result.model.settings.pipeline
        owner = owners.setdefault(name, result.source.name)
        if owner != result.source.name:
            raise UserError(
                f"{owner} and {result.source.name} are both the pipeline `{name}`",
                "give one of them another name: `pipeline: …` in its front matter",
            )
        files.append(output_files(result, output))
    return files


def _write(files: Sequence[dict[Path, str]]) -> bool:
    """Write what differs and say so; nothing is ever stale then."""
    for pair in files:
        written = write_if_changed(pair)
        for path in pair:
            print(f"{'wrote' if path in written else 'unchanged'} {path}")
    return False


def _print_stale(files: Sequence[dict[Path, str]]) -> bool:
    """Print how the files would change; return whether any would."""
    stale = []
    for pair in files:
        for path, text in pair.items():
            change = difference(path, text)
            if change:
                stale.append(path)
                sys.stdout.write(change)
    if stale:
        names = ", ".join(map(str, stale))
        print(f"stale: {names}; `streamc compile` writes them", file=sys.stderr)
    return bool(stale)
