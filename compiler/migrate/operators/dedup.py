"""Deduplication: the remembered ids, and until when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....contracts.plan import Deduplication, Operator, Program
from ....dsl.ast.expressions import Binary, Expression, Interval
from ...model.intervals import duration_text
from ..columns.keys import Key, KeyPlan, plan_keys
from ..compared.versions import Versions
from ..findings.changes import change
from ..findings.verdicts import Finding, Outcome, Verdict
from ..inputs.rows import function_findings, input_findings
from ..texts.lengths import micros
from ..texts.lines import assigned
from .aggregates import keys_of, where_findings

BECOME_ONE = "ids that become one may come once more, where one of them had come again"
"""Had they been one id before, the first would have suppressed the others until it was forgotten,
and one of the others may have been the next first: the state does not say which.
"""

_KEPT_AT, _FORGET = "kept_at", "forget"
"""What a program that remembers ids sets: when one was let through, and the timer to forget it."""


def remembered_for(operator: Operator) -> str | None:
    """Return how long ids are remembered by ``DISTINCT ON … WITHIN``, a program of its own.

    None for other operators.
    """
    if not isinstance(operator, Program) or operator.declared:
        return None
    parts = [c.id for c in operator.cells], [t.id for t in operator.timers]
    if parts != ([_KEPT_AT], [_FORGET]):
        return None
    match _set_to(operator, _KEPT_AT), _set_to(operator, _FORGET):
        case [kept], [Binary(operator="+", left=time, right=Interval() as length)] if time == kept:
            return duration_text(length)
    return None


def _set_to(operator: Program, target: str) -> list[Expression]:
    """Return what a cell or timer is set to, wherever it is."""
    found = (assigned(line, target) for line in operator.statements or ())
    return [tree for tree in found if tree is not None]


def plan_dedup(versions: Versions, old: Deduplication, new: Deduplication) -> Outcome:
    """Return the migration of the ids that an operator has seen."""
    keys = plan_keys(versions, new.id, keys_of(old), keys_of(new))
    shift = micros(new.within) - micros(old.within)
    findings = [
        *dedup_keys(new.id, keys, keys_of(new)),
        _expiry(old, new, shift, keys.merges),
        *input_findings(versions, new.id, old.input, new.input),
        *function_findings(versions, new),
        *where_findings(versions, new.id),
    ]
    where = versions.decisions.get("operators", new.id, "where")
    made = change(new.id, "dedup", old.id, where, keys=keys.made(), group=keys.merges)
    made = replace(made, shift_expiry_micros=shift)
    return Outcome("operator", old.id, new.id, "dedup", tuple(findings), made)


def dedup_keys(id_: str, keys: KeyPlan, new: Sequence[Key]) -> Iterator[Finding]:
    """Yield the findings on keys in terms of ids: one with a new part was never seen."""
    for finding in keys.findings:
        if finding.old is None and finding.open is not None:
            why = "ids that have been seen do not say which of it they had: each would come again"
            fix = (
                f"`{id_}: drop` begins with no ids; `key: {{{finding.new}: …}}` gives all one value"
            )
            yield Finding("key", None, finding.new, Verdict.IMPOSSIBLE, why, fix, open=finding.open)
        elif finding.verdict is Verdict.DROPPED:
            why = "ids that differ in it alone become one, seen when the first of them was"
            yield Finding("key", finding.old, None, Verdict.DROPPED, why)
        else:
            yield finding


def _expiry(old: Deduplication, new: Deduplication, shift: int, merges: bool) -> Finding:
    part, before, after = "remembered for", old.within, new.within
    said = []
    if shift:
        said.append(f"each id is forgotten {'later' if shift > 0 else 'sooner'} by the difference")
    if merges:
        said.append(BECOME_ONE)
    verdict = Verdict.CONVERTED if shift else Verdict.MERGED if merges else Verdict.KEPT
    return Finding(part, before, after, verdict, "; ".join(said), marked=merges)
