"""``streamc run``: a spec or an emitted script on Spark, in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.options import AdoptOption, AsCopyOption, ProfileOption, VariablesOption, copied
from ..shared.output import write_if_changed
from ..shared.report import Format, UserError, faults, print_diagnostics
from ..shared.spec_files import SUFFIX, read_specs

if TYPE_CHECKING:
    from ...runtime import Arguments, Result, View

_BUILD = Path("build")


def run(
    path: Annotated[
        Path, typer.Argument(metavar="SPEC|SCRIPT", help="A spec, or a script compiled from one.")
    ],
    until_caught_up: Annotated[
        bool, typer.Option("--until-caught-up", help="Process the available input, then end.")
    ] = False,
    var: VariablesOption = None,
    profile: ProfileOption = None,
    state: Annotated[str | None, typer.Option(metavar="DIR", help="The state folder.")] = None,
    from_savepoint: Annotated[
        str | None,
        typer.Option(
            "--from-savepoint", metavar="NAME", help="Start from a savepoint, by name or folder."
        ),
    ] = None,
    migration: Annotated[
        Path | None,
        typer.Option(
            "--migration", metavar="FILE", help="Migration file for it; see `savepoint plan`."
        ),
    ] = None,
    adopt: AdoptOption = False,
    as_copy: AsCopyOption = False,
    metrics_port: Annotated[
        str | None,
        typer.Option(
            "--metrics-port",
            metavar="[ADDRESS:]PORT",
            help="Serve metrics for Prometheus; without an address, to this machine only.",
        ),
    ] = None,
    metrics_file: Annotated[
        Path | None,
        typer.Option(
            "--metrics-file",
            metavar="FILE",
            help="Write metrics for the textfile collector of Prometheus.",
        ),
    ] = None,
) -> None:
    """Run a pipeline; a spec is first compiled to `build`.

    Exit codes: 0 caught up, 1 a query failed, 2 not possible as requested, 130 and 143 ended by
    Ctrl-C and SIGTERM.
    """
    script = script_of(path)

    from ...runtime import Arguments
    from ...runtime.plan.arguments import parse_variables
    from ...runtime.savepoints.migrate.state_mapping import check_backfilled
    from ..savepoints.from_savepoint import migration_of

    if migration is not None and from_savepoint is None:
        raise UserError("`--migration` needs a savepoint", "pass `--from-savepoint`")
    decision = copied(adopt=adopt, as_copy=as_copy)
    with faults("stopped before the queries had started"):
        variables, change = parse_variables(var or ()), None
        if from_savepoint is not None:
            change = migration_of(script, state, profile, from_savepoint, migration)
            check_backfilled(change)
        given = (until_caught_up, variables, profile, state, from_savepoint, change)
        asked = Arguments(
            *given,
            path=path,
            copied=decision,
            metrics_port=metrics_port,
            metrics_file=metrics_file,
        )
        result = _run(script, asked, str(path.resolve().parent))
    for failure in result.failures:
        print(failure.render(), file=sys.stderr)
    raise typer.Exit(result.exit_code)


def _run(script: Path, asked: Arguments, folder: str) -> Result:
    """Run a script with a view of it, which is closed before anything else is printed."""
    from ...runtime import run_script
    from .changed_state import changes_between

    view = _view()
    try:
        return run_script(
            script, asked, view=view, folders=(folder,), signals=True, compare=changes_between
        )
    except BaseException:
        view.close()
        raise


def script_of(path: Path) -> Path:
    """Return a script, or what a spec is compiled to; exits with 2 when the spec has errors."""
    if path.suffix == ".py":
        if not path.is_file():
            raise UserError(f"there is no {path}")
        return path
    if path.is_dir() or (path.exists() and path.suffix != SUFFIX):
        raise UserError(f"{path} is neither a spec (*{SUFFIX}) nor a script (*.py)")
    return _compile(path)


def _compile(spec: Path) -> Path:
    """Compile a spec to `build` and return the script's path."""
    (source,) = read_specs([spec])

    from ...compiler.driver import compile_source, output_files

    result = compile_source(source)
    if print_diagnostics([result.diagnostics], Format.FULL):
        raise typer.Exit(2)
    files = output_files(result, _BUILD)
    write_if_changed(files)
    return next(iter(files))


def _view() -> View:
    from ...runtime import PlainView

    if not sys.stderr.isatty():
        return PlainView()

    from .live_view import LiveView

    return LiveView()
