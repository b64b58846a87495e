"""A migration plan as the document for the runtime, and as a report."""

from __future__ import annotations

from typing import Any

from ....contracts.migration import InexactPart, Migration, SinkChange, SourceChange
from ....contracts.outputs.migration_plan import PlannedPart
from ..findings.verdicts import Finding, MigrationPlan, Outcome


def document(plan: MigrationPlan) -> Migration:
    """Return the document of a plan."""
    return Migration(
        pipeline=plan.pipeline,
        from_version=plan.from_version,
        to_version=plan.to_version,
        operators={f.id: f.change for f in plan.operators if f.change is not None},
        sources={
            f.new: SourceChange(f.new, f.old, f.sooner_micros)
            for f in plan.sources
            if f.new is not None
        },
        sinks={f.new: SinkChange(f.new, f.old) for f in plan.sinks if f.new is not None},
        marks=tuple(
            _mark(outcome, f) for outcome in plan.operators for f in outcome.findings if f.marked
        ),
    )


def report(plan: MigrationPlan) -> dict[str, Any]:
    """Return a plan with all verdicts and the document, for programs."""
    return {
        "format": 1,
        "kind": "migration-plan",
        "pipeline": plan.pipeline,
        "from_version": plan.from_version,
        "to_version": plan.to_version,
        "exit_code": plan.exit_code,
        "parts": [
            planned_part(outcome, f) for outcome in plan.outcomes() for f in outcome.findings
        ],
        "document": document(plan).to_json(),
    }


def _mark(outcome: Outcome, finding: Finding) -> InexactPart:
    cell = finding.new if finding.part == "cell" else None
    return InexactPart(outcome.id, cell, finding.why or finding.verdict.value)


def planned_part(outcome: Outcome, finding: Finding) -> PlannedPart:
    """Return the verdict on a part, for programs."""
    missing = finding.open
    return {
        "owner": outcome.id,
        "group": outcome.group,
        "kind": outcome.kind,
        "part": finding.part,
        "old": finding.old,
        "new": finding.new,
        "verdict": finding.verdict.value,
        "reason": finding.why,
        "fix": finding.fix,
        "marked": finding.marked,
        "decision": None
        if missing is None
        else {
            "path": list(missing.path),
            "value": missing.value,
            "choices": list(missing.choices),
        },
    }
