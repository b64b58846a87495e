"""``streamc run --from-savepoint``: the migration from a savepoint's state to a script's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..shared.report import Format, print_diagnostics
from .plan import planned

if TYPE_CHECKING:
    from ...contracts.migration import Migration
    from ...dsl.reports.diagnostics import Diagnostics


def migration_of(
    script: Path, state: str | None, profile: str | None, savepoint: str, decisions: Path | None
) -> Migration | None:
    """Return the migration that a script needs to start from a savepoint; None for the same state.

    Prints the plan and exits with its code when something is undecided or impossible. Raises
    ``RuntimeFault`` when there is no such savepoint.
    """
    from ...runtime.plan.plan import load_plan, plan_path
    from ...runtime.plan.settings import state_folder
    from ...runtime.savepoints.format.model import find_savepoint
    from ...runtime.savepoints.migrate.state_mapping import differences
    from ...runtime.storage.local_files import LocalFiles, local_state

    plan = load_plan(plan_path(script))
    # A savepoint in a folder may start a state that does not exist yet.
    root = state_folder(plan, state, profile)
    root = root if "/" in savepoint else local_state(root)[1]
    saved, _ = find_savepoint(LocalFiles(), root, savepoint)
    said: list[Diagnostics] = []
    found, _ = planned(saved.plan, plan, decisions, said)
    if print_diagnostics(said, Format.FULL):
        raise typer.Exit(2)

    from ...compiler.migrate.results.document import document
    from ...compiler.migrate.results.text import plan_text

    if found.exit_code:
        sys.stderr.write(plan_text(found))
        sys.stderr.write(
            "nothing was started: answer the decisions in a migration file, `--migration FILE`\n"
        )
        raise typer.Exit(found.exit_code)
    if not list(differences(saved, plan)):
        return None
    return document(found)
