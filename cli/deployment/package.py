"""``streamc package``: all that a pipeline needs on a cluster, and the command that starts it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from ..shared.options import ProfileOption
from ..shared.output import write_if_changed
from ..shared.report import Format, UserError, faults, print_diagnostics
from ..shared.spec_files import SUFFIX, read_specs

if TYPE_CHECKING:
    from ...compiler.driver import CompileResult
    from ...contracts.plan import Plan


def package(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="A spec.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Output folder.")] = Path("dist"),
    master: Annotated[
        str | None,
        typer.Option("--master", metavar="URL", help="The cluster, for the printed command."),
    ] = None,
    profile: ProfileOption = None,
) -> None:
    """Collect what a pipeline needs on a cluster, and print the command that starts it.

    The output folder gets the script with its plan and spec, the runtime as a zip and as a jar, the
    Python modules that the spec uses, and a requirements file. The `spark-submit` command goes to
    standard output.
    """
    result = _compiled(spec)
    assert result.plan is not None

    from .contents import package_of

    with faults("stopped; nothing was written"):
        found = package_of(
            result,
            output,
            profile=profile,
            master=master,
            folders=list(dict.fromkeys((spec.resolve().parent, Path.cwd()))),
            tell=_tell,
        )
        written = write_if_changed(found.files)
        for path in found.files:
            _tell(f"{'wrote' if path in written else 'unchanged'} {path}")
        for line in _notes(result.plan, profile):
            _tell(line)
    sys.stdout.write(found.submission.text())


def _compiled(spec: Path) -> CompileResult:
    if spec.is_dir() or (spec.exists() and spec.suffix != SUFFIX):
        raise UserError(f"{spec} is not a spec", f"names of specs end in `{SUFFIX}`")
    (source,) = read_specs([spec])

    from ...compiler.driver import compile_source

    result = compile_source(source)
    if print_diagnostics([result.diagnostics], Format.FULL):
        raise typer.Exit(2)
    return result


def _notes(plan: Plan, profile: str | None) -> list[str]:
    """What the command cannot know, or would not do on several machines."""
    from ...runtime.plan.settings import state_folder

    state = state_folder(plan, None, profile)
    notes = []
    if urlsplit(state).scheme in ("", "file"):
        notes.append(
            f"note: the state `{state}` is on the disk of one machine; on several, end the command "
            "with `--state` and a path that all of them reach"
        )
    lacking = [name for name, value in plan.settings.variables.items() if value is None]
    if profile is not None:
        given = plan.settings.profiles[profile].variables
        lacking = [name for name in lacking if given.get(name) is None]
    if lacking:
        options = " ".join(f"--var {name}=…" for name in lacking)
        notes.append(f"note: the command needs a value for each of these at its end: {options}")
    return notes


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
