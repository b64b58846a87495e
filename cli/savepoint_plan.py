"""``streamc savepoint plan``: what becomes of each cell of state under another version."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import write_if_changed
from .report import Format, UserError, print_diagnostics
from .two_versions import NewArgument, OldArgument, compile_version, read_versions

if TYPE_CHECKING:
    from ..compiler.migrate.decisions import Decisions
    from ..compiler.migrate.verdicts import Json, MigrationPlan
    from ..dsl.diagnostics import Diagnostics
    from ..dsl.source import SourceFile


class PlanFormat(StrEnum):
    """How a plan is printed."""

    FULL = "full"
    JSON = "json"


def plan(
    old: OldArgument,
    new: NewArgument,
    migration: Annotated[
        Path | None,
        typer.Option("--migration", metavar="FILE", help="A file of decisions: 2-to-3.yaml."),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FILE", help="Draft a file with the missing decisions."),
    ] = None,
    format: Annotated[
        PlanFormat, typer.Option("--format", help="How to print the plan.")
    ] = PlanFormat.FULL,
) -> None:
    """Tell what becomes of a savepoint of OLD under NEW: a verdict for each part of the state.

    Exit code 0: all is accounted for. 1: something has to be decided; --write drafts the file. 2: a
    part is impossible, and the file does not give it up.
    """
    before, after = read_versions(old, new)
    results = (compile_version(before, after), compile_version(after, after))
    said = [result.diagnostics for result in results]
    plans = [json.loads(result.plan_json) for result in results if result.plan_json is not None]
    found, decisions = None, None
    if len(plans) == len(results):
        found, decisions = planned(plans[0], plans[1], migration, said)
    how = Format.JSON if format is PlanFormat.JSON else Format.FULL
    if print_diagnostics(said, how) or found is None or decisions is None:
        raise typer.Exit(2)
    if write is not None:
        _write(write, migration, found, decisions)
    _print(found, format)
    raise typer.Exit(found.exit_code)


def planned(
    old: Json, new: Json, migration: Path | None, said: list[Diagnostics]
) -> tuple[MigrationPlan, Decisions]:
    """Plan with the decisions of a file; what is wrong in it is added to what is said."""
    from ..compiler.migrate.decisions import Decisions
    from ..compiler.migrate.plan import plan_migration
    from ..compiler.migrate.read import read_migration, tell_unused
    from ..dsl.diagnostics import Diagnostics

    if migration is None:
        decisions = Decisions()
        return plan_migration(old, new, decisions), decisions
    diagnostics = Diagnostics(_read(migration))
    said.append(diagnostics)
    decisions = read_migration(old, new, diagnostics)
    found = plan_migration(old, new, decisions)
    if not diagnostics.has_errors:
        tell_unused(decisions, diagnostics)
    return found, decisions


def _read(path: Path) -> SourceFile:
    from ..dsl.source import SourceFile

    try:
        return SourceFile.read(path)
    except FileNotFoundError as error:
        help_ = "`--write` drafts one"
        raise UserError(f"there is no {path}", help_) from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8", "save the file as UTF-8") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error


def _write(path: Path, migration: Path | None, found: MigrationPlan, decisions: Decisions) -> None:
    from ..compiler.migrate.draft import draft

    if path.exists() and (migration is None or path.resolve() != migration.resolve()):
        raise UserError(f"{path} is there already", f"add to it with `--migration {path}`")
    write_if_changed({path: draft(found, decisions)})


def _print(found: MigrationPlan, format: PlanFormat) -> None:
    from ..compiler.migrate.document import report
    from ..compiler.migrate.text import plan_text

    if format is PlanFormat.JSON:
        sys.stdout.write(json.dumps(report(found), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(plan_text(found))
