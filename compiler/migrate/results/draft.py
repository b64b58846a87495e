"""A migration file with the missing decisions, each with its reason and the choices.

Decisions already in a file stay in it, without its comments. Impossible parts are written as
comments: giving them up is for a person to decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ....contracts.records import dataclass
from ....dsl.yaml.text import yaml_line
from ..findings.decisions import Decisions
from ..findings.verdicts import FOUND_BY_THAT, Finding, MigrationPlan, Outcome, Path, Verdict


@dataclass(slots=True)
class _Entry:
    """A key of the file: its value, or the keys below it; comments, and whether it is one."""

    value: str | None = None
    comments: list[str] = field(default_factory=list)
    is_comment: bool = False
    below: dict[str, _Entry] = field(default_factory=dict)


def draft(plan: MigrationPlan, decisions: Decisions) -> str:
    """Return the text of a file that decides everything except impossible parts."""
    root = _Entry()
    for path, value in decisions.values.items():
        _at(root, path).value = value
    for one in _rounds(plan, decisions):
        for outcome in one.outcomes():
            for finding in outcome.findings:
                if finding.open is not None or finding.verdict is Verdict.IMPOSSIBLE:
                    _add(root, outcome, finding)
    lines = [f"from: {plan.from_version}", f"to: {plan.to_version}"]
    for name, entry in root.below.items():
        lines += _lines(name, entry, "")
    return "\n".join(lines) + "\n"


def _rounds(plan: MigrationPlan, decisions: Decisions) -> Iterator[MigrationPlan]:
    """Yield the plan, and the plans with further questions once the previous ones are answered."""
    values = dict(decisions.values)
    while True:
        yield plan
        asked = [f.open for f in plan.findings() if f.open is not None]
        more = {one.path: one.value for one in asked if one.path not in values}
        if not more or plan.exit_code == 2:
            return
        values |= more
        plan = plan.with_decisions(values)


def _at(root: _Entry, path: Path) -> _Entry:
    for name in path:
        root = root.below.setdefault(name, _Entry())
    return root


def _add(root: _Entry, outcome: Outcome, finding: Finding) -> None:
    impossible = finding.verdict is Verdict.IMPOSSIBLE
    missing = finding.open
    if missing is not None:
        path, value, choices = missing.path, missing.value, missing.choices
    else:
        path, value, choices = (f"{outcome.group}s", outcome.id), "drop", ()
    entry = _at(root, path)
    said = f"{finding.name}: {finding.verdict.value}"
    reason = f"{said}: {finding.why}" if finding.why else said
    if impossible and finding.why == FOUND_BY_THAT:
        return
    if reason not in entry.comments:
        entry.comments.append(reason)
    if finding.fix is not None and (impossible or path[-1] == "from"):
        entry.comments.append(finding.fix)
    others = [choice for choice in choices if choice != value]
    if others and entry.value is None:
        entry.comments.append(f"or: {', '.join(others)}")
    if entry.value is None and not (entry.below and missing is None):
        entry.value, entry.is_comment = value, impossible


def _lines(name: str, entry: _Entry, indent: str) -> Iterator[str]:
    for comment in entry.comments:
        yield f"{indent}# {comment}"
    mark = "# " if _is_hidden(entry) else ""
    if not entry.below:
        yield f"{indent}{mark}{yaml_line(name)}: {yaml_line(entry.value or 'drop')}"
        return
    yield f"{indent}{mark}{yaml_line(name)}:"
    for inner, below in entry.below.items():
        yield from _lines(inner, below, f"{indent}  ")


def _is_hidden(entry: _Entry) -> bool:
    """Whether an entry contains only comments."""
    if not entry.below:
        return entry.is_comment
    return all(_is_hidden(inner) for inner in entry.below.values())
