"""Marks where rows were late by another watermark before the cut, or are reread after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....contracts.plan import Column, Plan, Source, Watermark, branches_of
from ..compared.versions import Versions
from ..findings.changes import reads_of
from ..findings.verdicts import Finding, Outcome, Verdict
from .rows import listed


def with_lateness(versions: Versions, outcome: Outcome) -> Outcome:
    """Return the outcome of a continuing operator, marked where rows are late by another rule.

    Which rows were late before the cut is unknown: dropped rows are lost, and accepted ones stay,
    though the new watermark might have decided otherwise. It is also marked where a source is
    reread.
    """
    if outcome.new is None or outcome.old is None or outcome.change is None:
        return outcome
    sources = sources_below(versions.new, outcome.new)
    again = [name for name in sources if versions.starts(name)]
    others = [name for name in sources if _differs(versions, name)]
    found = []
    if again:
        why = f"rows of {listed(again)} that are in it come again"
        found.append(Finding("rows", "", "", Verdict.KEPT, why, marked=True))
    if others:
        why = f"rows before the cut were late by another watermark of {listed(others)}"
        found.append(Finding("lateness", "", "", Verdict.KEPT, why, marked=True))
    return replace(outcome, findings=(*outcome.findings, *found))


def _differs(versions: Versions, name: str) -> bool:
    before = versions.old.sources.get(versions.before(name))
    after = versions.new.sources[name]
    return before is not None and _watermark(before) != _watermark(after)


def _watermark(source: Source) -> tuple[Watermark | None, list[Column]]:
    """Return a watermark with all columns that its instants are computed from."""
    if source.watermark is None:
        return None, []
    names, made = {source.watermark.column}, list[Column]()
    for column in reversed(source.computed):
        if column.name in names:
            made.append(column)
            names |= set(reads_of(column.expression))
    made += [column for column in source.metadata if column.name in names]
    return source.watermark, made


def sources_below(plan: Plan, id_: str) -> list[str]:
    """Return the sources whose rows reach an operator, directly or not."""
    return list(dict.fromkeys(_below(plan, id_, set())))


def _below(plan: Plan, id_: str, seen: set[str]) -> Iterator[str]:
    for branch in branches_of(plan.operators[id_]):
        name = branch.below
        if name in plan.sources:
            yield name
        elif name in plan.operators and name not in seen:
            seen.add(name)
            yield from _below(plan, name, seen)
