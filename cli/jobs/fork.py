"""``streamc fork``: two versions from one savepoint, over the same rows, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..savepoints.plan import planned
from ..shared.options import ProfileOption, VariablesOption
from ..shared.report import Format, UserError, faults, print_diagnostics
from ..shared.spec_files import read_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...compiler.spec_tests.forks import SinkFork
    from ...compiler.spec_tests.upgrades import Version
    from ...contracts.savepoint import Savepoint
    from ...dsl.reports.diagnostics import Diagnostics
    from .forking import Branch

_WORDS = ("only a", "only b")


def fork(
    savepoint: Annotated[
        str, typer.Argument(metavar="SAVEPOINT", help="A savepoint, by name or folder.")
    ],
    a: Annotated[Path, typer.Option("--a", metavar="SPEC", help="One version.")],
    b: Annotated[Path, typer.Option("--b", metavar="SPEC", help="The other version.")],
    input_: Annotated[
        Path,
        typer.Option("--input", metavar="DIR", help="Recorded rows: a folder for each source."),
    ],
    state: Annotated[
        str | None, typer.Option("--state", metavar="DIR", help="The state that has the savepoint.")
    ] = None,
    migration: Annotated[
        Path | None, typer.Option("--migration", metavar="FILE", help="Migration file for b.")
    ] = None,
    var: VariablesOption = None,
    profile: ProfileOption = None,
) -> None:
    """Run two versions from one savepoint and compare their sinks.

    Both read the same recorded rows. The n-th file of each source is one epoch of both. Sinks are
    kept in memory: nothing is written. Exit codes: 0 no difference, 1 rows differ or a decision is
    missing, 2 a mistake.
    """
    from ...runtime.plan.arguments import parse_variables

    with faults():
        saved, folder = _savepoint(savepoint, state)
        variables = parse_variables(var or ())
        said: list[Diagnostics] = []
        versions = [_compiled(spec, said) for spec in (a, b)]
        if print_diagnostics(said, Format.FULL) or None in versions:
            raise typer.Exit(2)
        branches = [
            _branch(saved, version, decisions, variables, profile)
            for version, decisions in zip(versions, (None, migration), strict=True)
            if version is not None
        ]
        from . import forking

        recording = forking.read_recording(input_, branches)
        if not recording.steps:
            raise UserError(f"{input_} contains no rows", "add files: the n-th one is epoch n")
        found = list(forking.fork(saved, folder, (branches[0], branches[1]), recording, _tell))
    if not found:
        raise UserError("the versions have no sink in common", "`--migration` renames sinks")
    for one in found:
        sys.stdout.write(_text(one))
    raise typer.Exit(int(any(one.differs for one in found)))


def _savepoint(named: str, state: str | None) -> tuple[Savepoint, str]:
    from ...runtime.savepoints.format.model import load_savepoint
    from ...runtime.savepoints.process import savepoint_of
    from ...runtime.savepoints.restore.restore import check_files
    from ...runtime.storage.disk import LocalDisk
    from ...runtime.storage.local_files import LocalFiles

    if "/" in named:
        folder = str(Path(named).resolve())
        found = load_savepoint(LocalFiles(), folder)
        check_files(LocalDisk(), found, folder)
        return found, folder
    if state is None:
        raise UserError(f"the state of savepoint `{named}` is not given", "pass `--state DIR`")
    found, folder = savepoint_of(state, named)
    return found, str(Path(folder).resolve())


def _compiled(spec: Path, said: list[Diagnostics]) -> Version | None:
    from ...compiler.driver import compile_source
    from ..testing.load import version_of

    if not spec.is_file():
        raise UserError(f"there is no {spec}")
    result = compile_source(read_spec(spec))
    said.append(result.diagnostics)
    return None if result.diagnostics.has_errors else version_of(spec, result)


def _branch(
    saved: Savepoint,
    version: Version,
    decisions: Path | None,
    variables: Mapping[str, str],
    profile: str | None,
) -> Branch:
    """Plan the migration from the savepoint; prints the plan and exits when it is not complete."""
    from ...compiler.migrate.results.document import document
    from ...compiler.migrate.results.text import plan_text
    from .forking import Branch

    if version.plan.pipeline != saved.pipeline:
        raise UserError(
            f"{version.spec} is of pipeline `{version.plan.pipeline}`, savepoint {saved.name} "
            f"of `{saved.pipeline}`",
            "give both the same pipeline name in the front matter if they are one pipeline",
        )
    said: list[Diagnostics] = []
    plan, _ = planned(saved.plan, version.plan, decisions, said)
    if print_diagnostics(said, Format.FULL):
        raise typer.Exit(2)
    if plan.exit_code:
        sys.stderr.write(plan_text(plan))
        sys.stderr.write(
            f"{version.spec} cannot resume: answer the decisions in a file, `--migration FILE`\n"
        )
        raise typer.Exit(plan.exit_code)
    settings = version.pipeline.settings
    return Branch(
        version,
        document(plan),
        {name: value for name, value in variables.items() if name in settings.variables},
        profile if profile in settings.profiles else None,
    )


def _text(fork: SinkFork) -> str:
    from ...compiler.spec_tests.differences import difference_counts, difference_lines

    found = fork.comparison
    alike = len(found.matched)
    counts = [*difference_counts(found, _WORDS), f"{alike} alike"]
    lines = [f"sink {fork.name}: {', '.join(counts)}"]
    for word, names in zip(_WORDS, (fork.only_a, fork.only_b), strict=True):
        lines += [f"    {word}: column {name}" for name in names]
    if not found.holds:
        lines += difference_lines(found, _WORDS)
    return "".join(f"{line}\n" for line in lines)


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
