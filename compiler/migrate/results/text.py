"""A migration plan as text: a paragraph for each operator, source and sink."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from textwrap import wrap

from ..findings.verdicts import Finding, MigrationPlan, Outcome, Verdict

_WIDEST = 40
"""A longer name than this is on a line of its own."""
_PAGE = 100
_REGISTER = re.compile(r"(?<=MS\[)\d+(?=\]$)")


def plan_text(plan: MigrationPlan, *, whole: bool = True) -> str:
    """Return all verdicts; without ``whole`` one line for everything unchanged."""
    parts = ["\n".join(_fate(outcome, whole)) for outcome in plan.outcomes()]
    untouched = [part for part in parts if "\n" not in part]
    told = [part for part in parts if "\n" in part]
    paragraphs = [*told, *(["\n".join(untouched)] if untouched else []), _summary(plan)]
    return "\n\n".join(paragraphs) + "\n"


def _fate(outcome: Outcome, whole: bool) -> Iterator[str]:
    title = f"{outcome.group} {outcome.id}" if outcome.kind else outcome.group
    title += f" ({outcome.kind})" if outcome.kind else ""
    if outcome.old is not None and outcome.new is not None and outcome.old != outcome.new:
        title += f", which was {outcome.old}"
    if outcome.is_untouched and not whole:
        yield f"{title}: kept"
        return
    yield title
    findings = list(joined(outcome.findings))
    names = [_name(finding) for finding in findings]
    width = max((len(name) for name in names if len(name) <= _WIDEST), default=0)
    verdicts = max((len(finding.verdict.value) for finding in findings), default=0)
    for name, finding in zip(names, findings, strict=True):
        yield from _finding(f"  {name:<{width}}  {finding.verdict.value:<{verdicts}}", finding)


def joined(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings, with the registers of a sketch as one where all have the same."""
    for _, alike in groupby(findings, _without_register):
        same = list(alike)
        first, last = same[0], same[-1]
        yield (
            first
            if len(same) == 1
            else replace(
                first, old=_from_to(first.old, last.old), new=_from_to(first.new, last.new)
            )
        )


def _without_register(finding: Finding) -> Finding:
    old, new = (
        None if name is None else _REGISTER.sub("", name) for name in (finding.old, finding.new)
    )
    return replace(finding, old=old, new=new)


def _from_to(first: str | None, last: str | None) -> str | None:
    found = None if last is None else _REGISTER.search(last)
    return first if first is None or found is None else f"{first[:-1]}-{found[0]}]"


def _finding(line: str, finding: Finding) -> Iterator[str]:
    """Yield a finding followed by its reason, or with it below where it does not fit."""
    whole = f"{line}  {finding.why}".rstrip()
    if len(whole) <= _PAGE:
        yield whole
    else:
        yield line.rstrip()
        yield from wrap(
            finding.why,
            _PAGE,
            initial_indent="    ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    yield from _mend(finding)


def _name(finding: Finding) -> str:
    if finding.old and finding.new and finding.old != finding.new:
        return f"{finding.part} {finding.old} -> {finding.new}"
    return finding.name


def _mend(finding: Finding) -> Iterator[str]:
    missing = finding.open
    if missing is not None and finding.verdict is not Verdict.IMPOSSIBLE:
        choices = " or ".join(missing.choices)
        asked = f"{': '.join(missing.path)}: {choices or missing.value}"
        yield f"    decide: {asked}"
    if finding.fix is not None:
        yield f"    help: {finding.fix}"


def _summary(plan: MigrationPlan) -> str:
    counts = Counter(finding.verdict for finding in plan.findings())
    words = [f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict]]
    open_ = {finding.open.path for finding in plan.findings() if finding.open is not None}
    missing = len(open_) if plan.exit_code else 0
    line = ", ".join(words) or "nothing is kept"
    if missing:
        line += f"; {missing} {'decision is' if missing == 1 else 'decisions are'} missing"
    return line
