"""Maps, sets and lists of programs, entry by entry."""

from __future__ import annotations

from ....contracts.migration import EntriesChange
from ....contracts.plan import Program, ProgramCell
from ..compared.recompute import computed
from ..compared.versions import Versions
from ..findings.verdicts import Decision, Finding, Verdict
from ..types.conversions import in_its_type
from ..types.structs import converted, holds_all_by_name
from .successors import asked, successors


def plan_entries(
    versions: Versions, id_: str, old: Program, new: Program
) -> tuple[list[Finding], list[EntriesChange]]:
    """Return the findings on maps, sets and lists, and the SQL of their entries."""
    before = {cell.id: cell for cell in old.cells if cell.kind != "value"}
    cells = [cell for cell in new.cells if cell.kind != "value"]
    pairs = successors(versions, id_, before, cells, _fits)
    findings: list[Finding] = []
    made: list[EntriesChange] = []
    for cell in cells:
        name = cell.id
        source = pairs.sources.get(name)
        was = None if source is None else source.id
        again = computed(versions, id_, cell.kind, name, was)
        if again is not None:
            finding, document = again, _empty(cell)
        elif source is not None and source.kind != cell.kind:
            finding, document = _other_kind(id_, cell, source), _empty(cell)
        elif source is None:
            why, document = "it has no entries yet", _empty(cell)
            finding = Finding(cell.kind, None, name, Verdict.EMPTY, why)
            if name in pairs.maybe:
                finding = asked(id_, cell.kind, name, pairs.maybe[name], why)
        else:
            finding, document = _carried(versions, id_, cell, source)
        findings.append(finding)
        made.append(document)
    told = {finding.old for finding in findings}
    for name, cell in before.items():
        if name not in told:
            why = "it is declared no more"
            findings.append(Finding(cell.kind, name, None, Verdict.DROPPED, why))
    return findings, made


def _fits(old: ProgramCell, new: ProgramCell) -> bool:
    """Whether entries of one cell could be those of another."""
    return (
        old.kind == new.kind
        and holds_all_by_name(old.entry, new.entry)
        and holds_all_by_name(old.value, new.value)
    )


def _empty(cell: ProgramCell) -> EntriesChange:
    return EntriesChange(cell.id, cell.kind, None, None, None)


def _other_kind(id_: str, cell: ProgramCell, old: ProgramCell) -> Finding:
    why = f"a {old.kind} does not become a {cell.kind}"
    fix = f"give it another name, or `{id_}: drop`"
    return Finding(cell.kind, old.id, cell.id, Verdict.IMPOSSIBLE, why, fix)


def _carried(
    versions: Versions, id_: str, cell: ProgramCell, old: ProgramCell
) -> tuple[Finding, EntriesChange]:
    """Carry the entries over; ``key`` is that of a map or the element of a set or list."""
    parts: dict[str, str | None] = {"key": None, "value": None}
    why = [f"it was called `{old.id}`"] if old.id != cell.id else []
    verdict, open_ = Verdict.KEPT, None
    held = [("key", old.entry, cell.entry)]
    held += [("value", old.value, cell.value)] if cell.kind == "map" else []
    for part, before, after in held:
        path = ("operators", id_, "set", cell.id, part)
        decided = versions.decisions.get(*path)
        kept = in_its_type(part, before)
        parts[part] = kept if decided is None else decided
        if decided is not None:
            verdict = Verdict.CONVERTED
            why.append(f"{part} as decided: {decided}")
        elif before != after:
            verdict, made = Verdict.CONVERTED, converted(kept, before, after)
            parts[part] = made
            if holds_all_by_name(before, after):
                why.append(f"{before} to {after}, exactly")
            else:
                why.append(f"{after} does not hold all of {before}")
                open_ = Decision(path, made)
    if old.ttl != cell.ttl:
        why.append(f"entries are forgotten after {cell.ttl or 'no time'}, not {old.ttl or 'never'}")
    fix = None if open_ is None else "say how, by `set`"
    finding = Finding(*(cell.kind, old.id, cell.id, verdict, "; ".join(why), fix), open=open_)
    return finding, EntriesChange(cell.id, cell.kind, old.id, parts["key"], parts["value"])
