"""``streamc diff``: what a change to a spec changes in the emitted code and in the state."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from ..shared.output import unified
from ..shared.report import Format, FormatOption, print_diagnostics
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
    savepoint of OLD migrates to NEW.
    """
    before, after = read_versions(old, new)

    results = (compile_version(before, after), compile_version(after, after))
    if print_diagnostics([result.diagnostics for result in results], format):
        raise typer.Exit(2)
    raise typer.Exit(int(_print_changes(*results, names=(before.name, after.name))))


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
