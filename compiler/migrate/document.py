"""A plan of a migration as the document that the runtime works by.

Expressions are Spark SQL over the old state: keys by their names, the window as the struct
``window``, cells by their ids in backticks. What they give is cast to the type of the new state.
"""

from __future__ import annotations

import json
from typing import Any

from .verdicts import Fate, Finding, MigrationPlan

FORMAT = 1


def document(plan: MigrationPlan) -> dict[str, Any]:
    """Return the document of a plan."""
    return {
        "format": FORMAT,
        "pipeline": plan.pipeline,
        "from_version": plan.from_version,
        "to_version": plan.to_version,
        "operators": {
            fate.id: dict(fate.document) for fate in plan.operators if fate.document is not None
        },
        "sources": {
            f.new: {"from": f.old, **(f.document or {})} for f in plan.sources if f.new is not None
        },
        "sinks": {f.new: {"from": f.old} for f in plan.sinks if f.new is not None},
        "marks": [_mark(fate, f) for fate in plan.operators for f in fate.findings if f.marked],
    }


def to_json(plan: MigrationPlan) -> str:
    """Return the document as text."""
    return json.dumps(document(plan), indent=2, ensure_ascii=False) + "\n"


def report(plan: MigrationPlan) -> dict[str, Any]:
    """Return a plan with all verdicts and the document, for programs that read it."""
    return {
        "pipeline": plan.pipeline,
        "from_version": plan.from_version,
        "to_version": plan.to_version,
        "exit_code": plan.exit_code,
        "parts": [_part(fate, f) for fate in plan.fates() for f in fate.findings],
        "document": document(plan),
    }


def _mark(fate: Fate, finding: Finding) -> dict[str, Any]:
    cell = finding.new if finding.part == "cell" else None
    return {"operator": fate.id, "cell": cell, "reason": finding.why or finding.verdict.value}


def _part(fate: Fate, finding: Finding) -> dict[str, Any]:
    missing = finding.open
    return {
        "owner": fate.id,
        "group": fate.group,
        "kind": fate.kind,
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
