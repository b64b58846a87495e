"""A comparison as text: a table of the stateful operators, and the other differences."""

from __future__ import annotations

from collections.abc import Sequence

from .compare import Change, Difference, Edit, PlanChanges


def changes_text(changes: PlanChanges) -> str:
    """Return all operators with their differences, then the other differences."""
    lines = ["stateful operators", *(_table(changes.operators) or ["  none"])]
    for title, group in (
        ("sources", changes.sources),
        ("tables", changes.tables),
        ("functions", changes.functions),
        ("queries", changes.queries),
        ("sinks", changes.sinks),
    ):
        differing = [change for change in group if change.difference is not Difference.UNCHANGED]
        if differing:
            lines += [title, *_table(differing)]
    if changes.settings:
        lines += ["settings", *(f"  {_edit(edit)}" for edit in changes.settings)]
    return "\n".join(lines) + "\n"


def _table(changes: Sequence[Change]) -> list[str]:
    ids = max((len(change.id) for change in changes), default=0)
    kinds = max((len(change.kind) for change in changes), default=0)
    lines = []
    for change in changes:
        lines.append(f"  {change.id:<{ids}}  {change.kind:<{kinds}}  {change.difference.value}")
        lines.extend(f"    {_edit(edit)}" for edit in change.edits)
    return lines


def _edit(edit: Edit) -> str:
    if edit.old is None:
        return f"+ {edit.part} {edit.new}".rstrip()
    if edit.new is None:
        return f"- {edit.part} {edit.old}".rstrip()
    return f"{edit.part}: {edit.old} -> {edit.new}"
