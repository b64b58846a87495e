"""What differs between the version of a spec that began a state and the one that continues it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...compiler.migrate.findings.verdicts import Finding
    from ...contracts.plan import Plan
    from ...runtime.execution.changed_spec import Changes

_FOUND_BY = ("key", "window", "time")
"""Parts that identify groups: a changed one would read some groups as others."""


def changes_between(old: Plan, new: Plan) -> Changes:
    """Return what a start without a savepoint has to refuse, and what it has to report.

    What a migration plan would not keep as it is can't continue in place: a cell that computes
    something else under its name, groups by another key. What it asks about or marks is reported.
    """
    from ...compiler.migrate.plan import plan_migration
    from ...runtime.execution.changed_spec import Changes

    refused, told = [], []
    for outcome in plan_migration(old, new).operators:
        if outcome.old is None or outcome.new is None:
            # It begins or ends with its query.
            continue
        for finding in outcome.findings:
            line = f"{outcome.id}: {finding.name}: {finding.why}"
            if _is_another(finding):
                refused.append(line)
            elif finding.open is not None or finding.marked:
                told.append(line)
    return Changes(tuple(refused), tuple(told))


def _is_another(finding: Finding) -> bool:
    from ...compiler.migrate.findings.verdicts import Verdict

    lost = finding.verdict in (Verdict.EMPTY, Verdict.IMPOSSIBLE)
    return lost or (finding.open is not None and finding.part.split()[0] in _FOUND_BY)
