"""The comparison of two plans, with what the migration knows about operators that look the same.

A plan lists what an operator keeps. Two versions may keep the same of other rows, or of rows that
are computed in another way, and a query may keep more or less of what the plan lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...plan.compare import Change, Difference, Edit, PlanChanges
from ..findings.verdicts import Finding, MigrationPlan, Outcome


def with_meaning(changes: PlanChanges, plan: MigrationPlan) -> PlanChanges:
    """Return the changes of two plans, without an operator unchanged that the migration reports."""
    outcomes = {outcome.id: outcome for outcome in plan.operators}
    operators = (_operator(change, outcomes.get(change.id)) for change in changes.operators)
    return replace(changes, operators=tuple(operators))


def _operator(change: Change, outcome: Outcome | None) -> Change:
    unchanged = change.difference is Difference.UNCHANGED
    if not unchanged or outcome is None or outcome.is_untouched:
        return change
    edits = tuple(_kept(outcome.findings))
    return replace(
        change, difference=Difference.CHANGED if edits else Difference.MEANING, edits=edits
    )


def _kept(findings: Iterable[Finding]) -> Iterator[Edit]:
    """Yield the parts that only one version keeps; one that both keep may have two findings."""
    pairs = [(finding.part, finding.old, finding.new) for finding in findings]
    before = {(part, old) for part, old, _ in pairs if old is not None}
    after = {(part, new) for part, _, new in pairs if new is not None}
    for part, old, new in pairs:
        if old is None and new is not None and (part, new) not in before:
            yield Edit(f"keeps {part} {new}", None, "")
        if new is None and old is not None and (part, old) not in after:
            yield Edit(f"keeps {part} {old}", "", None)
