"""``streamc diff``: what a change to a spec changes in the emitted code and in the state."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from ...contracts.outputs.review import Diff
from ..shared.output import json_text, unified
from ..shared.report import Format, FormatOption, stopped_by
from .changes import changed_parts, code_change, planned_parts
from .revisions import NewArgument, OldArgument, compile_version, read_versions

if TYPE_CHECKING:
    from ...compiler.driver import CompileResult


def diff(
    old: OldArgument,
    new: NewArgument,
    format: FormatOption = Format.FULL,
) -> None:
    """Compare what two versions of a spec compile to.

    Prints the diff of the emitted script, a table of the stateful operators (which are new,
    removed, changed and in what, keep the same of other rows, or are unchanged), and how a
    savepoint of OLD migrates to NEW. Exit code 1: there are differences.
    """
    before, after = read_versions(old, new)

    results = (compile_version(before, after), compile_version(after, after))
    if stopped_by([result.diagnostics for result in results], format):
        raise typer.Exit(2)
    show = _print_json if format is Format.JSON else _print_changes
    raise typer.Exit(int(show(*results, names=(before.name, after.name))))


def _print_changes(old: CompileResult, new: CompileResult, names: tuple[str, str]) -> bool:
    """Print the changes of script, plan and state; return whether there are any."""
    from ...compiler.migrate.plan import plan_migration
    from ...compiler.migrate.results.differences import with_meaning
    from ...compiler.migrate.results.text import plan_text
    from ...compiler.plan.compare import compare_plans
    from ...compiler.plan.compare_text import changes_text

    assert old.script is not None and new.script is not None
    assert old.plan is not None and new.plan is not None
    code = unified(old.script, new.script, *names)
    if code:
        sys.stdout.write(f"{code}\n")
    found = plan_migration(old.plan, new.plan)
    sys.stdout.write(changes_text(with_meaning(compare_plans(old.plan, new.plan), found)))
    differ = old.plan != new.plan
    if differ:
        sys.stdout.write(f"\nstate\n\n{plan_text(found, whole=False)}")
    return bool(code) or differ


def _print_json(old: CompileResult, new: CompileResult, names: tuple[str, str]) -> bool:
    """Print the same as JSON; return whether there are changes."""
    from ...compiler.migrate.plan import plan_migration
    from ...compiler.migrate.results.differences import with_meaning
    from ...compiler.plan.compare import compare_plans
    from ...dsl.reports.render import objects

    assert old.script is not None and new.script is not None
    assert old.plan is not None and new.plan is not None
    code = code_change(old.script, new.script, *names)
    found = plan_migration(old.plan, new.plan)
    differs = code is not None or old.plan != new.plan
    document: Diff = {
        "format": 1,
        "kind": "diff",
        "old": names[0],
        "new": names[1],
        "pipeline": new.plan.pipeline,
        "from_version": old.plan.version,
        "to_version": new.plan.version,
        "exit_code": 1 if differs else 0,
        "code": code,
        "changes": list(changed_parts(with_meaning(compare_plans(old.plan, new.plan), found))),
        "state": planned_parts(found) if old.plan != new.plan else None,
        "diagnostics": objects([old.diagnostics, new.diagnostics]),
    }
    sys.stdout.write(json_text(document))
    return differs
