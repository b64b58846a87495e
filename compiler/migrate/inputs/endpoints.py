"""Sources, sinks and queries: positions to continue from, outputs to continue."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ....contracts.plan import Sink, Source, Watermark
from ....contracts.reserved import SHUFFLE_PARTITIONS
from ....contracts.sinks import SINKS
from ...connectors.registry import SOURCES
from ..columns.sources import Called
from ..compared.versions import Versions
from ..findings.verdicts import Decision, Finding, Outcome, Verdict
from ..texts.lengths import micros


def match_ends(
    versions: Versions, group: str, old: Collection[str], new: Collection[str]
) -> dict[str, str | None]:
    """Return the old source or sink of each new one: as decided in the file, else by name."""
    decisions = versions.decisions
    froms = {name: decisions.get(group, name, "from") for name in new}
    taken = {was for was in froms.values() if was is not None}
    found: dict[str, str | None] = {}
    for name in new:
        starts = group == "sources" and decisions.get(group, name, "start") is not None
        own = name if name in old and name not in taken and not starts else None
        found[name] = froms[name] or own
    return found


def likely(versions: Versions, pairs: Mapping[str, str | None]) -> dict[str, str]:
    """Return the new name of each old source with an open question.

    Its readers are not asked about as well: their rows are the same if the answer is yes.
    """
    old, new, decisions = versions.old.sources, versions.new.sources, versions.decisions
    found: dict[str, str] = {}
    for name, was in pairs.items():
        if was is None and decisions.get("sources", name, "start") is None:
            for one in _alike(old, _free(old, new, pairs), new[name])[:1]:
                found.setdefault(one, name)
    return found


def _free(old: Collection[str], new: Collection[str], pairs: Mapping[str, str | None]) -> list[str]:
    return [name for name in old if name not in pairs.values() and name not in new]


def _alike(old: Mapping[str, Source], free: list[str], source: Source) -> list[str]:
    return [name for name in free if old[name].connector == source.connector]


def plan_sources(
    versions: Versions,
    pairs: Mapping[str, str | None],
    columns: Mapping[str, Sequence[Called]],
) -> tuple[Outcome, ...]:
    """Return the migration of the positions of all sources, and of renamed columns."""
    old, new = versions.old.sources, versions.new.sources
    free = [name for name in old if name not in pairs.values()]
    outcomes = []
    for name, entry in new.items():
        was = pairs[name]
        if was is None:
            findings = [_new_position(versions, name, entry, _free(old, new, pairs))]
        else:
            findings = list(_position(versions, name, old[was], entry, was))
        findings += [one.finding(name) for one in columns.get(name, ())]
        sooner = 0 if was is None else _sooner(old[was].watermark, entry.watermark)
        outcome = Outcome(
            "source", was, name, entry.connector, tuple(findings), sooner_micros=sooner
        )
        outcomes.append(outcome)
    for name in free:
        if name in new:
            why = "read from the beginning again, as decided"
        else:
            versions.decisions.get("sources", name)
            why = "nothing reads it any more"
        finding = Finding("position", name, None, Verdict.DROPPED, why)
        outcomes.append(Outcome("source", name, None, old[name].connector, (finding,)))
    return tuple(outcomes)


def _new_position(versions: Versions, name: str, entry: Source, free: list[str]) -> Finding:
    started = versions.decisions.get("sources", name, "start")
    why = "it is read from its beginning"
    alike = _alike(versions.old.sources, free, entry)
    if started is None and alike:
        path = ("sources", name, "from")
        return Finding(
            *("position", None, name, Verdict.EMPTY),
            f"{why}, unless it is what was `{alike[0]}`",
            f"`sources: {{{name}: {{from: {alike[0]}}}}}` goes on where that stands, "
            "`{start: earliest}` reads it from its beginning",
            open=Decision(path, alike[0], tuple(alike)),
        )
    return Finding("position", None, name, Verdict.EMPTY, why)


def _position(
    versions: Versions, name: str, old: Source, new: Source, was: str
) -> Iterator[Finding]:
    if old.connector != new.connector:
        why = f"a position of {old.connector} says nothing about {new.connector}"
        fix = f"`sources: {{{name}: {{start: earliest}}}}` reads it from its beginning"
        started = Decision(("sources", name, "start"), "earliest", ("earliest",))
        yield Finding("position", was, name, Verdict.IMPOSSIBLE, why, fix, open=started)
        return
    places = SOURCES[new.connector].position
    moved = [p for p in places if old.options.get(p) != new.options.get(p)]
    called = f"it was called `{was}`" if was != name else ""
    if moved:
        words = ", ".join(f"{p} {old.options.get(p)} to {new.options.get(p)}" for p in moved)
        said = versions.decisions.get("sources", name, "from") == was
        open_ = None if said else Decision(("sources", name, "from"), was, (was,))
        yield Finding(
            *("position", was, name, Verdict.KEPT),
            f"{words}: what is elsewhere has not been read, and what was read is not asked for",
            None if said else "say that it is the same data, or `{start: earliest}`",
            marked=True,
            open=open_,
        )
    else:
        yield Finding("position", was, name, Verdict.KEPT, called)
    yield from _watermark(old.watermark, new.watermark)
    why = "rows are chosen by it from the cut on"
    if old.malformed_rows != new.malformed_rows:
        yield Finding("policy", "malformed rows", "malformed rows", Verdict.KEPT, why)
    if old.future_rows != new.future_rows:
        yield Finding("policy", "future rows", "future rows", Verdict.KEPT, why)


def _watermark(old: Watermark | None, new: Watermark | None) -> Iterator[Finding]:
    if old == new:
        return
    before, after = (None if w is None else f"{w.column} - {w.delay}" for w in (old, new))
    if old is None or new is None:
        yield Finding("watermark", before, after, Verdict.KEPT, "it begins or ends at the cut")
        return
    if old.column != new.column:
        why = "it goes on from where it stands, by the new column"
    elif micros(new.delay) < micros(old.delay):
        why = "it moves ahead by the difference: windows close at once, and rows are late sooner"
    else:
        why = (
            "it stands until it is past by the new delay: windows close later, fewer rows are late"
        )
    yield Finding("watermark", before, after, Verdict.KEPT, why)


def _sooner(old: Watermark | None, new: Watermark | None) -> int:
    """Return how far a watermark moves ahead where its delay is shorter; 0 elsewhere."""
    if old is None or new is None or old.column != new.column:
        return 0
    return max(micros(old.delay) - micros(new.delay), 0)


def plan_sinks(versions: Versions, pairs: Mapping[str, str | None]) -> tuple[Outcome, ...]:
    """Return the migration of the commits of all sinks."""
    old, new = versions.old.sinks, versions.new.sinks
    free = [name for name in old if name not in pairs.values()]
    outcomes = []
    for name, entry in new.items():
        was = pairs[name]
        finding = (
            _new_output(versions, name, entry, free)
            if was is None
            else _output(name, was, old[was], entry)
        )
        outcomes.append(Outcome("sink", was, name, entry.connector, (finding,)))
    for name in free:
        versions.decisions.get("sinks", name)
        lasts = SINKS[old[name].connector].lasts
        why = "what it wrote stays as it is" if lasts else "its rows did not outlast their run"
        finding = Finding("output", name, None, Verdict.DROPPED, why)
        outcomes.append(Outcome("sink", name, None, old[name].connector, (finding,)))
    return tuple(outcomes)


def _new_output(versions: Versions, name: str, entry: Sink, free: list[str]) -> Finding:
    ends = versions.old.sinks
    alike = [
        one
        for one in free
        if entry.options
        and (ends[one].connector, ends[one].options) == (entry.connector, entry.options)
    ]
    if not alike:
        return Finding("output", None, name, Verdict.EMPTY, "its first row is of after the cut")
    return Finding(
        *("output", None, name, Verdict.EMPTY),
        f"it writes where `{alike[0]}` wrote, as another sink",
        f"`sinks: {{{name}: {{from: {alike[0]}}}}}` goes on with it",
        open=Decision(("sinks", name, "from"), alike[0], tuple(alike)),
    )


def _output(name: str, was: str, old: Sink, new: Sink) -> Finding:
    place = (old.connector, old.options) != (new.connector, new.options)
    if place:
        return Finding("output", was, name, Verdict.KEPT, _moved(old, new))
    called = f"it was called `{was}`" if was != name else ""
    if old.key != new.key:
        why = "rows are replaced by another key from the cut on; those that are there stay"
        return Finding("output", was, name, Verdict.KEPT, why, marked=True)
    if old.output_mode != new.output_mode:
        called = f"rows come out as {new.output_mode} from the cut on, not {old.output_mode}"
    return Finding("output", was, name, Verdict.KEPT, called)


def _moved(old: Sink, new: Sink) -> str:
    """Return where the rows of a sink are that writes to another place, or to none."""
    match SINKS[old.connector].lasts, SINKS[new.connector].lasts:
        case True, True:
            return "it writes elsewhere from the cut on; what it wrote stays where it is"
        case True, False:
            return "its rows do not outlast a run from the cut on; what it wrote stays where it is"
        case False, True:
            return "it writes from the cut on; the rows before that did not outlast their run"
        case _:
            return "its rows do not outlast a run, before the cut or after it"


def plan_queries(versions: Versions) -> tuple[Outcome, ...]:
    """Return how the queries run differently, which never affects state."""
    old, new = versions.old.settings, versions.new.settings
    findings = []
    if old.state_backend != new.state_backend:
        why = "a savepoint goes into either"
        backends = (old.state_backend, new.state_backend)
        findings.append(Finding("state_backend", *backends, Verdict.KEPT, why))
    before, after = (s.spark.get(SHUFFLE_PARTITIONS) for s in (old, new))
    if before != after:
        why = "state is laid out anew"
        findings.append(
            Finding("partitions", before or "default", after or "default", Verdict.KEPT, why)
        )
    return (Outcome("settings", "settings", "settings", "", tuple(findings)),) if findings else ()
