"""``streamc backfill``: a savepoint for a new version, with cells computed from retained rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..savepoints.from_savepoint import migration_of
from ..shared.columns import size
from ..shared.options import ProfileOption, VariablesOption
from ..shared.report import faults
from .run import script_of


def backfill(
    path: Annotated[
        Path, typer.Argument(metavar="SPEC|SCRIPT", help="The new version of the pipeline.")
    ],
    from_savepoint: Annotated[
        str,
        typer.Option("--from-savepoint", metavar="NAME", help="The savepoint, by name or folder."),
    ],
    migration: Annotated[
        Path | None,
        typer.Option(
            "--migration", metavar="FILE", help="The migration file, which says what to backfill."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Name of the new savepoint; default: NAME-backfilled."),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Continue although some rows are gone, and mark the result."
        ),
    ] = False,
    var: VariablesOption = None,
    profile: ProfileOption = None,
    state: Annotated[str | None, typer.Option(metavar="DIR", help="The state folder.")] = None,
) -> None:
    """Create a savepoint with state computed from earlier rows.

    It is for a new version, whose migration file says what to backfill.
    The rows before the savepoint are read again; nothing is written to sinks, and a job may run.
    `streamc run --from-savepoint` starts from the new savepoint, without a migration.
    """
    script = script_of(path)

    from ...runtime import Arguments
    from ...runtime.plan.arguments import parse_variables
    from ...runtime.savepoints.backfill.backfill import backfill_savepoint

    with faults("stopped; no savepoint was created"):
        variables = parse_variables(var or ())
        change = migration_of(script, state, profile, from_savepoint, migration)
        asked = Arguments(False, variables, profile, state, from_savepoint, change)
        folders = (str(path.resolve().parent),)
        found = backfill_savepoint(
            script, asked, name=name, partial=partial, folders=folders, tell=_tell
        )
    print(f"savepoint {found.name}: {found.rows:,} rows, {size(found.bytes)}")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
