"""How two versions of a spec differ, as ``contracts.outputs.review``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from ...contracts.outputs.review import CodeChange, ReviewedChange, ReviewedEdit
from ..shared.output import unified

if TYPE_CHECKING:
    from ...compiler.migrate.findings.verdicts import MigrationPlan
    from ...compiler.plan.compare import Change, Edit, PlanChanges
    from ...contracts.outputs.migration_plan import PlannedPart

_Group = Literal["operator", "source", "table", "function", "query", "sink", "settings"]


def code_change(old: str, new: str, old_name: str, new_name: str) -> CodeChange | None:
    """Return how a script differs; None if it does not."""
    diff = unified(old, new, old_name, new_name)
    lines = diff.splitlines()[2:]
    if not lines:
        return None
    return {
        "added": sum(line.startswith("+") for line in lines),
        "removed": sum(line.startswith("-") for line in lines),
        "diff": diff,
    }


def changed_parts(found: PlanChanges) -> Iterator[ReviewedChange]:
    """Yield all operators, and what else differs."""
    from ...compiler.plan.compare import Difference

    groups: tuple[tuple[_Group, tuple[Change, ...]], ...] = (
        ("operator", found.operators),
        ("source", found.sources),
        ("table", found.tables),
        ("function", found.functions),
        ("query", found.queries),
        ("sink", found.sinks),
    )
    for group, changes in groups:
        for one in changes:
            if group == "operator" or one.difference is not Difference.UNCHANGED:
                yield _change(group, one.id, one.kind, one.difference.value, one.edits)
    if found.settings:
        yield _change("settings", "", "settings", Difference.CHANGED.value, found.settings)


def planned_parts(found: MigrationPlan) -> list[PlannedPart]:
    """Return the verdict on each part of the state; parts that share one are one."""
    from ...compiler.migrate.results.document import planned_part
    from ...compiler.migrate.results.text import joined

    return [
        planned_part(outcome, one)
        for outcome in found.outcomes()
        for one in joined(outcome.findings)
    ]


def _change(
    group: _Group, id: str, kind: str, difference: str, edits: Iterable[Edit]
) -> ReviewedChange:
    return {
        "group": group,
        "id": id,
        "kind": kind,
        "difference": difference,
        "edits": [_edit(edit) for edit in edits],
    }


def _edit(edit: Edit) -> ReviewedEdit:
    return {"part": edit.part, "old": edit.old, "new": edit.new}
