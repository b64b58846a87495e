"""Timers of programs: each new one from the old ones."""

from __future__ import annotations

from ....contracts.migration import Made
from ....contracts.plan import Program, Timer
from ....dsl.format import identifier
from ..compared.recompute import computed
from ..compared.versions import Versions
from ..findings.changes import made_part
from ..findings.verdicts import Decision, Finding, Verdict
from .successors import asked, successors


def plan_timers(
    versions: Versions, id_: str, old: Program, new: Program
) -> tuple[list[Finding], list[Made]]:
    """Return the findings on timers, and the SQL of the instants that they are set for."""
    before = {timer.id: timer for timer in old.timers}
    pairs = successors(*(versions, id_, before, new.timers), lambda was, now: was.time == now.time)
    findings: list[Finding] = []
    made: list[Made] = []
    for timer in new.timers:
        name = timer.id
        finding, expression = _timer(versions, id_, timer, pairs.sources.get(name))
        if name in pairs.maybe:
            finding = asked(id_, "timer", name, pairs.maybe[name], finding.why)
        findings.append(finding)
        made.append(made_part(name, expression))
    told = {finding.old for finding in findings}
    for name in before:
        if name not in told:
            why = "it is declared no more, and does not go off"
            findings.append(Finding("timer", name, None, Verdict.DROPPED, why))
    return findings, made


def _timer(versions: Versions, id_: str, timer: Timer, old: Timer | None) -> tuple[Finding, str]:
    name, path = timer.id, ("operators", id_, "timers", timer.id)
    decided = versions.decisions.get(*path)
    was = None if old is None else old.id
    if decided is not None:
        verdict = Verdict.DERIVED if old is None else Verdict.CONVERTED
        why = f"as decided, for {decided}"
        return Finding("timer", was, name, verdict, why), decided
    again = computed(versions, id_, "timer", name, was)
    if again is not None:
        return again, "CAST(NULL AS TIMESTAMP)"
    if old is None:
        why = "it is not set for any key that is there"
        return Finding("timer", None, name, Verdict.EMPTY, why), "CAST(NULL AS TIMESTAMP)"
    column = identifier(old.id)
    if old.time != timer.time:
        why = f"it was set by {old.time} time and goes by {timer.time} time now"
        finding = Finding(
            *("timer", was, name, Verdict.CONVERTED, why),
            f"say for when: `timers: {{{name}: …}}`",
            marked=True,
            open=Decision(path, column),
        )
        return finding, column
    why = f"it was called `{was}`" if was != name else ""
    return Finding("timer", was, name, Verdict.KEPT, why), column
