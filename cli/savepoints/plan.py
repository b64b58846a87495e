"""``streamc savepoint plan``: how each cell of state migrates to another version."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.output import json_text, write_if_changed
from ..shared.report import Format, UserError, stopped_by
from ..specs.revisions import compile_version, read_version, read_versions
from .dry_run import Saved, Tried, saved_in

if TYPE_CHECKING:
    from ...compiler.migrate.findings.decisions import Decisions
    from ...compiler.migrate.findings.verdicts import MigrationPlan
    from ...contracts.plan import Plan
    from ...dsl.reports.diagnostics import Diagnostics
    from ...dsl.reports.source import SourceFile


class PlanFormat(StrEnum):
    """How a plan is printed."""

    FULL = "full"
    JSON = "json"


def plan(
    versions: Annotated[
        list[str],
        typer.Argument(
            metavar="[OLD] NEW",
            help="Specs, or REVISION:PATH; OLD may also be a git revision (NEW at that revision: "
            "HEAD~1), and may be omitted with --savepoint.",
            show_default=False,
        ),
    ],
    migration: Annotated[
        Path | None,
        typer.Option("--migration", metavar="FILE", help="The migration file: 2-to-3.yaml."),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write", metavar="FILE", help="Draft a migration file with the missing decisions."
        ),
    ] = None,
    savepoint: Annotated[
        str | None,
        typer.Option(
            "--savepoint", metavar="NAME", help="Try it on a savepoint, by name or folder."
        ),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="DIR", help="The state folder of the savepoint."),
    ] = None,
    format: Annotated[
        PlanFormat, typer.Option("--format", help="Output format of the plan.")
    ] = PlanFormat.FULL,
) -> None:
    """Show how a savepoint of OLD migrates to NEW.

    Prints a verdict for each part of the state. With `--savepoint` also: rows and bytes, rows that
    can't be converted, rows before and after, incomplete windows, timers that fire at once. This
    starts a local Spark.

    Exit code 0: everything is accounted for. 1: a decision is missing (--write drafts the file), or
    rows can't be converted. 2: a part is impossible, and the file does not give it up.
    """
    old, new = _versions(versions, savepoint, state)
    saved = None if savepoint is None else saved_in(savepoint, state)
    said: list[Diagnostics] = []
    made = _compiled_and_planned(old, new, saved, migration, said)
    how = Format.JSON if format is PlanFormat.JSON else Format.FULL
    if stopped_by(said, how) or made is None:
        raise typer.Exit(2)
    plan_of_new, found, decisions = made
    tried = None if saved is None else saved.tried(plan_of_new, found)
    if write is not None:
        _write(write, migration, found, decisions)
    _print(found, tried, said, format)
    raise typer.Exit(max(found.exit_code, int(tried is not None and tried.fails)))


def _compiled_and_planned(
    old: str | None,
    new: str,
    saved: Saved | None,
    migration: Path | None,
    said: list[Diagnostics],
) -> tuple[Plan, MigrationPlan, Decisions] | None:
    """Return NEW's plan, the migration and its decisions; None when a spec has errors.

    Diagnostics are added to ``said``.
    """
    after = read_version(new)
    before = None if old is None else read_versions(old, new)[0]
    sources = [after] if before is None else [before, after]
    results = [compile_version(source, after) for source in sources]
    said += [result.diagnostics for result in results]
    plans = [result.plan for result in results if result.plan is not None]
    if len(plans) < len(results):
        return None
    if saved is not None:
        plans = [saved.of_plan(plans), plans[-1]]
    return plans[1], *planned(plans[0], plans[1], migration, said)


def _versions(
    versions: list[str], savepoint: str | None, state: str | None
) -> tuple[str | None, str]:
    """Return OLD and NEW as given; with a savepoint OLD may be missing."""
    if len(versions) > 2:
        raise UserError("more than two specs were given", "pass OLD and NEW")
    if savepoint is None and state is not None:
        raise UserError("`--state` needs a savepoint", "pass `--savepoint`")
    if savepoint is None and len(versions) < 2:
        raise UserError(
            "a plan needs two versions",
            "pass OLD and NEW, or NEW and the savepoint it starts from: `--savepoint`",
        )
    return (versions[0] if len(versions) == 2 else None), versions[-1]


def planned(
    old: Plan, new: Plan, migration: Path | SourceFile | None, said: list[Diagnostics]
) -> tuple[MigrationPlan, Decisions]:
    """Plan with the decisions of a file; mistakes in it are added to the diagnostics.

    Raises UserError when the plans are of two pipelines: no state goes from one to the other.
    """
    from ...compiler.migrate.files.read import read_migration, tell_unused
    from ...compiler.migrate.findings.decisions import Decisions
    from ...compiler.migrate.plan import plan_migration
    from ...dsl.reports.diagnostics import Diagnostics
    from ...dsl.reports.source import SourceFile

    if old.pipeline != new.pipeline:
        raise UserError(
            f"`{old.pipeline}` and `{new.pipeline}` are different pipelines, but a "
            "savepoint is of one",
            "give both the same pipeline name in the front matter if they are one pipeline",
        )
    if migration is None:
        decisions = Decisions()
        return plan_migration(old, new, decisions), decisions
    diagnostics = Diagnostics(migration if isinstance(migration, SourceFile) else _read(migration))
    said.append(diagnostics)
    decisions = read_migration(old, new, diagnostics)
    found = plan_migration(old, new, decisions)
    if not diagnostics.has_errors:
        tell_unused(decisions, diagnostics)
    return found, decisions


def _read(path: Path) -> SourceFile:
    from ...dsl.reports.source import SourceFile

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
    from ...compiler.migrate.results.draft import draft

    if path.exists() and (migration is None or path.resolve() != migration.resolve()):
        raise UserError(f"{path} already exists", f"add to it with `--migration {path}`")
    write_if_changed({path: draft(found, decisions)})


def _print(
    found: MigrationPlan, tried: Tried | None, said: list[Diagnostics], format: PlanFormat
) -> None:
    from ...compiler.migrate.results.document import report
    from ...compiler.migrate.results.text import plan_text

    if format is PlanFormat.JSON:
        from ...dsl.reports.render import objects

        told = {**report(found), "diagnostics": objects(said)}
        if tried is not None:
            told |= {
                "exit_code": max(found.exit_code, int(tried.fails)),
                "savepoint": tried.document(),
            }
        sys.stdout.write(json_text(told))
        return
    sys.stdout.write(plan_text(found))
    if tried is not None:
        sys.stdout.write(tried.text())
