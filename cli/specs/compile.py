"""``streamc compile``: specs to PySpark scripts and their plans."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...contracts.redaction import remember
from ...contracts.terminal import print_raw
from ..shared.output import difference, write_if_changed
from ..shared.report import Format, FormatOption, UserError, print_diagnostics
from ..shared.spec_files import PathsArgument, read_specs

if TYPE_CHECKING:
    from ...compiler.driver import CompileResult
    from ...dsl.settings.values import Settings


class Phase(StrEnum):
    """The phases after which compilation can stop."""

    AST = "ast"
    MODEL = "model"
    GRAPH = "graph"
    PLAN = "plan"
    SCRIPT = "script"


def compile_specs(
    paths: PathsArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Output folder.")] = Path("build"),
    stop_after: Annotated[
        Phase | None,
        typer.Option(help="Print the output of this phase; write nothing."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit with 1 and a diff if files are stale."),
    ] = False,
    format: FormatOption = Format.FULL,
) -> None:
    """Compile specs to PySpark scripts and their plans."""
    if check and stop_after is not None:
        raise UserError("--check and --stop-after exclude each other")
    sources = read_specs(paths)

    from ...compiler.driver import compile_source

    last = Phase.SCRIPT if stop_after is None else stop_after
    results = [compile_source(source, stop_after=last.value) for source in sources]
    failed = print_diagnostics([result.diagnostics for result in results], format)
    good = [result for result in results if not result.diagnostics.has_errors]
    if stop_after is not None:
        _print_phase(good, stop_after)
        raise typer.Exit(2 if failed else 0)
    files = _files(_newest(good, paths), output)
    stale = _print_stale(files) if check else _write(files)
    raise typer.Exit(2 if failed else int(stale))


def _print_phase(results: Sequence[CompileResult], phase: Phase) -> None:
    for result in results:
        if len(results) > 1:
            print(f"==> {result.source.name} <==")
        for secret in result.source.secrets:
            remember(secret)
        # Only this phase also runs on a spec with secrets in it.
        show = sys.stdout.write if phase is Phase.AST else print_raw
        show(result.text(phase.value).rstrip("\n") + "\n")


def _newest(results: Sequence[CompileResult], named: Sequence[Path]) -> list[CompileResult]:
    """Return the newest version of each pipeline; older ones in a folder are not compiled.

    They are there for migrations and tests. A version named on the command line is always compiled.
    Raises ``UserError`` when two specs emit the same files.
    """
    by_pipeline: dict[str, list[CompileResult]] = {}
    for result in results:
        by_pipeline.setdefault(_settings(result).pipeline, []).append(result)
    chosen = []
    for several in by_pipeline.values():
        newest = max(several, key=lambda one: _settings(one).version)
        for one in several:
            older = _settings(one).version < _settings(newest).version
            if one is newest:
                chosen.append(one)
            elif older and Path(one.source.name) not in named:
                print(_passed_over(one, newest), file=sys.stderr)
            else:
                raise _both(several[0], several[1])
    return chosen


def _settings(result: CompileResult) -> Settings:
    assert result.model is not None
    return result.model.settings


def _passed_over(one: CompileResult, newest: CompileResult) -> str:
    older, name = _settings(one), _settings(newest).pipeline
    return (
        f"skipped {one.source.name}: version {older.version} of `{name}`, of which "
        f"{newest.source.name} is version {_settings(newest).version}"
    )


def _both(a: CompileResult, b: CompileResult) -> UserError:
    name = _settings(a).pipeline
    return UserError(
        f"{a.source.name} and {b.source.name} are both pipeline `{name}`",
        "give one of them another name, `pipeline: …` in its front matter; or, if one succeeds "
        "the other, a higher `version`, and compile their folder or just one of them",
    )


def _files(results: Sequence[CompileResult], output: Path) -> list[dict[Path, str]]:
    """Return the files of each spec."""
    from ...compiler.driver import output_files

    return [output_files(result, output) for result in results]


def _write(files: Sequence[dict[Path, str]]) -> bool:
    """Write the files that differ and print their names; nothing is stale afterwards."""
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
