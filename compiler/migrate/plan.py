"""Two plans and a migration file to verdicts on all state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...contracts.migration import OperatorChange
from ...contracts.plan import (
    Aggregation,
    Deduplication,
    Join,
    Operator,
    Plan,
    Program,
    TopN,
    cells_of,
    keys_of,
    timers_of,
)
from .columns.sources import Called, called_otherwise, with_names
from .compared.mirrored import mirrored, turned
from .compared.recompute import COMPUTED, against_the_clock
from .compared.versions import SIDES, Versions, aggregates_of, alive, side_columns
from .files.nulls import with_nulls
from .findings.changes import change
from .findings.decisions import Decisions
from .findings.verdicts import FOUND_BY_THAT, Decision, Finding, MigrationPlan, Outcome, Verdict
from .inputs.endpoints import likely, match_ends, plan_queries, plan_sinks, plan_sources
from .inputs.lateness import with_lateness
from .operators.aggregates import empty_aggregate, kind_of, plan_aggregate, plan_top_n
from .operators.dedup import plan_dedup
from .operators.joins import plan_join
from .operators.programs import plan_program
from .operators.within import plan_within

PLANNERS: Mapping[type[Operator], Callable[[Versions, Any, Any], Outcome]] = {
    Aggregation: plan_aggregate,
    TopN: plan_top_n,
    Deduplication: plan_dedup,
    Join: plan_join,
    Program: plan_program,
}
"""The migration of an operator that continues as one of its kind."""

_BASES = ("key", "window", "time")
"""Parts that identify all others: where one is impossible, so are those."""


def plan_migration(old: Plan, new: Plan, decisions: Decisions | None = None) -> MigrationPlan:
    """Return how each part of the state of ``old`` migrates to ``new``."""
    versions = Versions(old, new, decisions or Decisions())
    sources = match_ends(versions, "sources", old.sources, new.sources)
    sinks = match_ends(versions, "sinks", old.sinks, new.sinks)
    operators = _match(versions)
    versions.renamed |= likely(versions, sources)
    old_ids = [id_ for id_ in alive(old) if id_ not in operators.values()]
    for id_, was in operators.items():
        if was is None:
            versions.renamed |= dict.fromkeys(_near(versions, id_, old_ids)[:1], id_)
    for pairs in (sources, operators):
        versions.renamed |= {was: now for now, was in pairs.items() if was is not None}
    columns = _columns(versions)
    for join in turned(versions.old, new, operators, versions.renamed):
        versions.old = mirrored(versions.old, join)
        versions.turned.add(join.id)
    return MigrationPlan(
        new.pipeline,
        old.version,
        new.version,
        _operators(versions, operators),
        plan_sources(versions, sources, columns),
        plan_sinks(versions, sinks),
        plan_queries(versions),
        lambda values: plan_migration(old, new, Decisions(dict(values))),
    )


def _match(versions: Versions) -> dict[str, str | None]:
    """Return the old operator of each new one: as decided in the file, else that of the same id."""
    old, new, decisions = alive(versions.old), alive(versions.new), versions.decisions
    froms = {id_: decisions.get("operators", id_, "from") for id_ in new}
    taken = {was for was in froms.values() if was is not None}
    found: dict[str, str | None] = {}
    for id_ in new:
        begins = decisions.get("operators", id_) is not None
        own = id_ if id_ in old and id_ not in taken and not begins else None
        found[id_] = froms[id_] or own
    return found


def _columns(versions: Versions) -> dict[str, tuple[Called, ...]]:
    """Return the renamed columns by source, and the old plan with the new names."""
    found: dict[str, tuple[Called, ...]] = {}
    for name in versions.new.sources:
        was = versions.before(name)
        if was not in versions.old.sources:
            continue
        found[name] = called_otherwise(versions, name, was)
        names = {one.old: one.new for one in found[name]}
        if names:
            versions.old = with_names(versions.old, was, names, versions.new)
    return found


def _operators(versions: Versions, pairs: Mapping[str, str | None]) -> tuple[Outcome, ...]:
    old, new = alive(versions.old), alive(versions.new)
    free = [id_ for id_ in old if id_ not in pairs.values()]
    outcomes = []
    for id_, entry in new.items():
        was = pairs[id_]
        if was is None:
            outcomes.append(_begun(versions, id_, [f for f in free if f not in new]))
        elif (outcome := _carried(versions, old[was], entry)) is not None:
            outcome = with_lateness(versions, _with_what_it_rests_on(outcome))
            outcomes.append(with_nulls(versions.decisions, outcome))
        else:
            within = plan_within(versions, old[was], entry)
            outcomes.append(within or _other_kind(versions, old[was], entry))
    outcomes += [_dropped(versions, id_, pairs) for id_ in free]
    return tuple(outcomes)


def _carried(versions: Versions, old: Operator, new: Operator) -> Outcome | None:
    """Return the outcome of an operator that continues as one of its kind; None for any other."""
    return PLANNERS[type(new)](versions, old, new) if type(old) is type(new) else None


def _with_what_it_rests_on(outcome: Outcome) -> Outcome:
    """Return an outcome in which no part outlives the keys or windows that identify it."""
    culprit = next(
        (
            f
            for f in outcome.findings
            if f.verdict is Verdict.IMPOSSIBLE and f.part.split()[0] in _BASES
        ),
        None,
    )
    if culprit is None:
        return outcome
    lost = {Verdict.KEPT, Verdict.CONVERTED, Verdict.MERGED, Verdict.DERIVED}
    parts = ("cell", "column", "timer", "map", "set", "list", "remembered")
    findings = [
        replace(f, verdict=Verdict.IMPOSSIBLE, why=FOUND_BY_THAT, fix=None, open=None)
        if f.verdict in lost and f.part.split()[0] in parts
        else f
        if f.part.split()[0] in _BASES
        else replace(f, open=None, fix=None)
        for f in outcome.findings
    ]
    return replace(outcome, findings=tuple(findings))


def _begun(versions: Versions, id_: str, free: Sequence[str]) -> Outcome:
    """Return the outcome of an operator without an old one."""
    entry = versions.new.operators[id_]
    word = versions.decisions.get("operators", id_)
    alike = [f for f in free if versions.old.operators[f].KIND == entry.KIND]
    verdict = Verdict.BACKFILL if word == "backfill" else Verdict.EMPTY
    why = COMPUTED if word == "backfill" else "it begins at the cut"
    open_, fix = None, None
    if word == "backfill" and (told := against_the_clock(entry)) is not None:
        verdict, why, fix = Verdict.IMPOSSIBLE, told, f"`{id_}: empty` begins with nothing"
    if word is None and alike:
        near = _near(versions, id_, alike)
        open_ = (
            Decision(("operators", id_, "from"), near[0], tuple(alike))
            if near
            else Decision(("operators", id_), "empty", ("empty", "backfill"))
        )
        names = ", ".join(f"`{name}`" for name in alike)
        why = f"it begins at the cut, unless it is what was {names}"
        fix = (
            f"`operators: {{{id_}: {{from: {alike[0]}}}}}` goes on with that, and so does "
            f"`WITH (uid = '{alike[0]}')` in the spec"
        )
    findings = [
        Finding("state", None, id_, verdict, why, fix, marked=word != "backfill", open=open_)
    ]
    findings += [Finding(part, None, name, verdict) for part, name in _parts(versions.new, id_)]
    made = _empty(versions, entry)
    if verdict is Verdict.BACKFILL:
        made = replace(made, backfill=tuple(n for _, n in _parts(versions.new, id_)))
    return Outcome("operator", None, id_, kind_of(entry), tuple(findings), made)


def _near(versions: Versions, id_: str, free: Sequence[str]) -> list[str]:
    """Return the old operators that may be a new one: those that keep the same, then some of it."""
    wanted, entry = set(_parts(versions.new, id_)), versions.new.operators[id_]
    same, like = [], []
    for one in free:
        before, parts = versions.old.operators[one], set(_parts(versions.old, one))
        if before.KIND != entry.KIND:
            continue
        if parts == wanted:
            same.append(one)
        elif parts & wanted and _names_of_keys(before) == _names_of_keys(entry):
            like.append(one)
    return [*same, *like]


def _names_of_keys(operator: Operator) -> list[str]:
    return sorted(key.name for key in keys_of(operator))


def _dropped(versions: Versions, id_: str, pairs: Mapping[str, str | None]) -> Outcome:
    word = versions.decisions.get("operators", id_)
    why = "there is no such operator any more" if id_ not in pairs else "as decided"
    if word == "drop":
        why = "as decided"
    return Outcome(
        "operator",
        id_,
        None,
        kind_of(versions.old.operators[id_]),
        (
            Finding("state", id_, None, Verdict.DROPPED, why),
            *(Finding(p, name, None, Verdict.DROPPED) for p, name in _parts(versions.old, id_)),
        ),
    )


def _other_kind(versions: Versions, old: Operator, new: Operator) -> Outcome:
    before, after = kind_of(old), kind_of(new)
    why = f"the state of {_a(before)} says nothing to {_a(after)}"
    fix = f"`{new.id}: drop` begins with nothing"
    return Outcome(
        "operator",
        old.id,
        new.id,
        after,
        (
            Finding("state", before, after, Verdict.IMPOSSIBLE, why, fix),
            *(Finding(p, n, None, Verdict.IMPOSSIBLE) for p, n in _parts(versions.old, old.id)),
            *(Finding(p, None, n, Verdict.EMPTY) for p, n in _parts(versions.new, new.id)),
        ),
        _empty(versions, new),
    )


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _parts(plan: Plan, id_: str) -> tuple[tuple[str, str], ...]:
    """Return what an operator keeps: cells, columns, timers, by part and name."""
    return tuple(_kept(plan, id_))


def _kept(plan: Plan, id_: str) -> Iterator[tuple[str, str]]:
    operator = plan.operators[id_]
    for aggregate in aggregates_of(plan, id_):
        yield from (("cell", cell.id) for cell in aggregate.cells)
    for cell in cells_of(operator):
        yield "cell" if cell.kind == "value" else cell.kind, cell.id
    yield from (("timer", timer.id) for timer in timers_of(operator))
    if isinstance(operator, Join):
        for place, word in enumerate(SIDES):
            for column in side_columns(plan, operator, place):
                yield f"column {word}", column.name


def _empty(versions: Versions, operator: Operator) -> OperatorChange:
    if isinstance(operator, Aggregation):
        return empty_aggregate(versions, operator)
    return change(operator.id, operator.KIND, None)
