"""``streamc run --from-savepoint``: the way from what a savepoint holds to what a script keeps."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .report import Format, print_diagnostics
from .savepoint_plan import planned

if TYPE_CHECKING:
    from ..dsl.diagnostics import Diagnostics
    from ..runtime.plan import Plan
    from ..runtime.savepoints.model import Savepoint


def migration_of(
    script: Path, state: str | None, profile: str | None, savepoint: str, decisions: Path | None
) -> Mapping[str, Any] | None:
    """Return the migration that a script needs to begin with a savepoint; None for the same state.

    Prints the plan and exits with its code when something is undecided or impossible. Raises
    ``RuntimeFault`` when there is no such savepoint.
    """
    from ..runtime.plan import load_plan, plan_path
    from ..runtime.savepoints.fit import differences

    plan = load_plan(plan_path(script))
    saved = _savepoint(plan, state, profile, savepoint)
    said: list[Diagnostics] = []
    found, _ = planned(saved.plan, plan.document, decisions, said)
    if print_diagnostics(said, Format.FULL):
        raise typer.Exit(2)

    from ..compiler.migrate.document import document
    from ..compiler.migrate.text import plan_text

    if found.exit_code:
        sys.stderr.write(plan_text(found))
        sys.stderr.write("nothing was started: decide it in a migration file, `--migration FILE`\n")
        raise typer.Exit(found.exit_code)
    if not list(differences(saved, plan)):
        return None
    return dict(json.loads(json.dumps(document(found))))


def _savepoint(plan: Plan, state: str | None, profile: str | None, named: str) -> Savepoint:
    from ..runtime.savepoints.model import load_savepoint
    from ..runtime.savepoints.process import savepoint_of
    from ..runtime.state_files import LocalFiles

    if "/" in named:
        return load_savepoint(LocalFiles(), named.rstrip("/"))
    known = plan.profiles.get(profile or "")
    own = known.state if known is not None else None
    folder = state or own or plan.settings.state or f"state/{plan.pipeline}"
    return savepoint_of(folder, named)[0]
