"""``streamc compile``: specs to PySpark scripts and their plans."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...contracts.outputs.specs import Compiled, CompiledFile, CompiledSpec
from ...contracts.redaction import remember
from ...contracts.terminal import print_raw
from ..shared.output import difference, json_text, write_if_changed
from ..shared.report import (
    Format,
    FormatOption,
    UserError,
    print_diagnostics,
    remember_secrets,
)
from ..shared.spec_files import PathsArgument, read_specs

if TYPE_CHECKING:
    from ...compiler.driver import CompileResult
    from ...dsl.reports.diagnostics import Diagnostics
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
    found = [result.diagnostics for result in results]
    failed = any(one.has_errors for one in found)
    if format is not Format.JSON:
        print_diagnostics(found, format)
    good = [result for result in results if not result.diagnostics.has_errors]
    made = _made(_newest(good, paths), output, check) if stop_after is None else []
    if format is Format.JSON:
        code = _print_json(list(made), good, stop_after, found)
    elif stop_after is not None:
        _print_phase(good, stop_after)
        code = 0
    else:
        code = int(_print_files(made, check))
    raise typer.Exit(2 if failed else code)


def _print_phase(results: Sequence[CompileResult], phase: Phase) -> None:
    for result in results:
        if len(results) > 1:
            print(f"==> {result.source.name} <==")
        for secret in result.source.secrets:
            remember(secret)
        _show(phase)(result.text(phase.value).rstrip("\n") + "\n")


def _show(phase: Phase | None) -> Callable[[str], object]:
    # Of the phases only this one also runs on a spec with secrets in it.
    return sys.stdout.write if phase in (Phase.AST, None) else print_raw


def _print_json(
    made: list[CompiledSpec],
    results: Sequence[CompileResult],
    phase: Phase | None,
    found: Sequence[Diagnostics],
) -> int:
    """Print one document, of the files or of a phase; return its exit code."""
    from ...dsl.reports.render import objects

    remember_secrets(found)
    if phase is not None:
        made = [
            {"spec": one.source.name, "files": [], "text": one.text(phase.value)} for one in results
        ]
    failed = any(one.has_errors for one in found)
    stale = any(file["status"] == "stale" for spec in made for file in spec["files"])
    document: Compiled = {
        "format": 1,
        "kind": "compile",
        "exit_code": 2 if failed else 1 if stale else 0,
        "specs": made,
        "diagnostics": objects(found),
    }
    _show(phase)(json_text(document))
    return document["exit_code"]


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


def _made(results: Sequence[CompileResult], output: Path, check: bool) -> Iterator[CompiledSpec]:
    """Write the files of each spec that differ, or with ``check`` only compare them."""
    from ...compiler.driver import output_files

    # All are made before the first is written.
    texts = [(result.source.name, output_files(result, output)) for result in results]
    for name, files in texts:
        made = _compared(files) if check else _written(files)
        yield {"spec": name, "files": made, "text": None}


def _written(files: dict[Path, str]) -> list[CompiledFile]:
    written = write_if_changed(files)
    return [
        {"file": str(path), "status": "wrote" if path in written else "unchanged", "diff": None}
        for path in files
    ]


def _compared(files: dict[Path, str]) -> list[CompiledFile]:
    changes = {path: difference(path, text) for path, text in files.items()}
    return [
        {"file": str(path), "status": "stale" if diff else "unchanged", "diff": diff or None}
        for path, diff in changes.items()
    ]


def _print_files(made: Iterable[CompiledSpec], check: bool) -> bool:
    """Print the files, or with ``check`` how they would change; return whether any is stale."""
    stale = []
    for file in (file for spec in made for file in spec["files"]):
        if not check:
            print(f"{file['status']} {file['file']}")
        elif file["diff"] is not None:
            stale.append(file["file"])
            sys.stdout.write(file["diff"])
    if stale:
        names = ", ".join(stale)
        print(f"stale: {names}; `streamc compile` writes them", file=sys.stderr)
    return bool(stale)
