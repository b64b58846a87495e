"""Migrated groups against groups recomputed from all rows: what a plan calls exact has to be.

No window has closed, so state holds every row, and the groups that the old version would hand over
must become those that the new version would have made of the same rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest
from compiled import compiled_text, plan_in
from hypothesis import assume, given
from hypothesis import strategies as st
from migration_interpreter import identity, migrate
from streamc.compiler.migrate.files.read import read_migration
from streamc.compiler.migrate.findings.decisions import Decisions
from streamc.compiler.migrate.findings.verdicts import MigrationPlan, Verdict
from streamc.compiler.migrate.operators.windows import Shape, shape
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.document import document
from streamc.compiler.migrate.results.draft import draft
from streamc.contracts.migration import OperatorChange
from streamc.contracts.plan import Aggregate, Aggregation, Plan
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.source import SourceFile

SOURCE = """\
---
pipeline: cards
version: {version}
---
CREATE SOURCE payments (
  card STRING NOT NULL, land STRING NOT NULL, v BIGINT NOT NULL, w DOUBLE, d DECIMAL(12, 2),
  at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 30 SECONDS
) WITH (connector = 'files', path = 'in', format = 'json');
CREATE STREAM spend AS
  SELECT {keys}, window_start, {columns}
  FROM {window}
  GROUP BY {keys}, window_start;
CREATE SINK out FROM spend WITH (connector = 'files', path = 'out', format = 'json');
"""
SECOND = 1_000_000
CALLS = (
    *("SUM(v)", "SUM(w)", "SUM(d)", "COUNT(*)", "COUNT(v)", "COUNT(w)", "AVG(w)", "AVG(d)"),
    *("MIN(v)", "MAX(w)", "BOOL_OR(v > 3)", "BOOL_AND(v > 3)", "STDDEV_SAMP(w)", "VAR_POP(w)"),
    *("COVAR_POP(v, w)", "MAX_BY(card, v)", "MIN_BY(land, v)", "COUNT(DISTINCT w)"),
)
WINDOWS = (
    *("TUMBLE(payments, at, INTERVAL 1 MINUTE)", "TUMBLE(payments, at, INTERVAL 2 MINUTES)"),
    *("TUMBLE(payments, at, INTERVAL 4 MINUTES)", "TUMBLE(payments, at, INTERVAL 6 MINUTES)"),
    "TUMBLE(payments, at, INTERVAL 4 MINUTES, OFFSET INTERVAL 1 MINUTE)",
    "HOP(payments, at, INTERVAL 1 MINUTE, INTERVAL 2 MINUTES)",
    "HOP(payments, at, INTERVAL 2 MINUTES, INTERVAL 4 MINUTES)",
    "HOP(payments, at, INTERVAL 1 MINUTE, INTERVAL 4 MINUTES)",
    "HOP(payments, at, INTERVAL 2 MINUTES, INTERVAL 6 MINUTES)",
    "HOP(payments, at, INTERVAL 2 MINUTES, INTERVAL 6 MINUTES, OFFSET INTERVAL 1 MINUTE)",
    "CUMULATE(payments, at, INTERVAL 1 MINUTE, INTERVAL 4 MINUTES)",
    "CUMULATE(payments, at, INTERVAL 2 MINUTES, INTERVAL 4 MINUTES)",
)
KEYS = (("card",), ("land",), ("card", "land"), ("land", "card"))


@cache
def plan_of(version: int, keys: tuple[str, ...], calls: tuple[str, ...], window: str) -> Plan:
    columns = ", ".join(f"{call} AS c{n}" for n, call in enumerate(calls))
    parts = {"version": version, "keys": ", ".join(keys), "columns": columns, "window": window}
    return plan_in(compiled_text(SOURCE.format(**parts), "cards.stream"))


def windows_of(window: Shape, at: int) -> Iterator[tuple[int, int]]:
    """Yield the windows that an instant is in."""
    if window.family == "cumulate":
        start = at - (at - window.offset) % window.size
        for end in range(start + window.step, start + window.size + 1, window.step):
            if at < end:
                yield start, end
        return
    start = at - (at - window.offset) % window.step
    while start + window.size > at:
        yield start, start + window.size
        start -= window.step


def cells_of(aggregate: Aggregate, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the state that Spark would keep of some rows, computed from all of them at once."""
    arguments = aggregate.id.partition("(")[2].removesuffix(")").split(", ")
    arguments[0] = arguments[0].removeprefix("DISTINCT ")
    buffers = {cell.buffer: cell.id for cell in aggregate.cells}
    first = [row.get(arguments[0], 1) for row in rows]
    if arguments[0].endswith(" > 3"):
        first = [row["v"] > 3 for row in rows]
    known = [one for one in first if one is not None]
    found: dict[str, Any] = {}
    match aggregate.function:
        case "sum" | "avg":
            none = None if aggregate.function == "sum" and len(buffers) == 1 else 0
            found = {"sum": sum(known) if known else none, "count": len(known)}
            found["isEmpty"] = not known
        case "count":
            found = {"count": len(known)}
        case "collect_set":
            found = {"buf": frozenset(known)}
        case "min" | "max" as name:
            found = {name: (min if name == "min" else max)(known, default=None)}
        case "max_by" | "min_by" as name:
            choose = max if name == "max_by" else min
            best = choose(rows, key=lambda row: row[arguments[1]])
            found = {
                "valueWithExtremumOrdering": best[arguments[0]],
                "extremumOrdering": best[arguments[1]],
            }
        case "covar_pop":
            pairs = [(row["v"], row["w"]) for row in rows if row["w"] is not None]
            n = len(pairs)
            x, y = (sum(pair[i] for pair in pairs) / n if n else 0 for i in (0, 1))
            found = {"n": n, "xAvg": x, "yAvg": y, "ck": sum((a - x) * (b - y) for a, b in pairs)}
        case _:
            mean = sum(known) / len(known) if known else 0
            deviations = sum((one - mean) ** 2 for one in known)
            found = {"n": len(known), "avg": mean, "m2": deviations}
    return {id_: found[buffer] for buffer, id_ in buffers.items()}


def groups_of(plan: Plan, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the groups that a version makes of rows."""
    entry = plan.operators["spend"]
    assert isinstance(entry, Aggregation) and entry.window is not None
    names = [key.name for key in entry.keys]
    together = defaultdict(list)
    for row in rows:
        for window in windows_of(shape(entry.window), row["at"]):
            together[(*(row[name] for name in names), window)].append(row)
    found = []
    for (*keys, (start, end)), own in together.items():
        group = dict(zip(names, keys, strict=True))
        group["window"] = {"start": start, "end": end}
        for aggregate in entry.aggregates:
            group |= cells_of(aggregate, own)
        found.append(group)
    return found


def accepted(old: Plan, new: Plan) -> MigrationPlan:
    """Return the plan of a migration in which all that can be accepted is."""
    asked = plan_migration(old, new)
    assume(asked.exit_code < 2)
    return answered(old, new)


def answered(old: Plan, new: Plan) -> MigrationPlan:
    """Return the plan of a migration with the answers of its draft."""
    asked = plan_migration(old, new)
    diagnostics = Diagnostics(SourceFile("draft.yaml", draft(asked, Decisions())))
    plan = plan_migration(old, new, read_migration(old, new, diagnostics))
    assert not len(diagnostics) and plan.exit_code == 0
    return plan


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "card": st.sampled_from("ab"),
            "land": st.sampled_from("xy"),
            "v": st.integers(0, 9),
            "w": st.none() | st.integers(0, 9),
            "d": st.none() | st.integers(0, 9),
            "at": st.integers(0, 700).map(lambda second: second * SECOND),
        }
    ),
    min_size=1,
    max_size=20,
    unique_by=lambda row: row["v"] if row["v"] > 5 else (row["at"], row["v"]),
)
FINER = (WINDOWS[0], WINDOWS[1], WINDOWS[5], WINDOWS[10])
"""Windows from which others can be made."""


@st.composite
def edits(draw: st.DrawFn) -> tuple[Any, Any]:
    """Draw two versions: the second has keys of the first, most of its aggregates, and others."""
    keys = draw(st.sampled_from(KEYS[2:]) | st.sampled_from(KEYS))
    fewer = draw(st.sampled_from([one for one in KEYS if set(one) <= set(keys)]))
    calls = draw(st.lists(st.sampled_from(CALLS), min_size=3, max_size=6, unique=True))
    more = draw(st.lists(st.sampled_from(CALLS), max_size=2, unique=True))
    kept = draw(st.permutations(calls))[: draw(st.integers(2, len(calls)))]
    window = draw(st.just(WINDOWS[0]) | st.sampled_from(FINER) | st.sampled_from(WINDOWS))
    other = draw(st.sampled_from(WINDOWS[1:10]) | st.just(window) | st.sampled_from(WINDOWS))
    after = tuple(dict.fromkeys((*kept, *more)))
    return (keys, tuple(calls), window), (fewer, after, other)


@given(edits(), ROWS)
def test_groups_become_what_the_new_version_makes_of_the_same_rows(
    edit: tuple[Any, Any], rows: list[dict[str, Any]]
) -> None:
    before, after = edit
    old, new = plan_of(1, *before), plan_of(2, *after)
    plan = accepted(old, new)
    outcome = plan.operators[0]
    assert outcome.change is not None
    made = migrate(document(plan).operators["spend"], groups_of(old, rows))
    wanted = {identity(outcome.change, g): g for g in groups_of(new, rows)}
    empty = {f.new for f in outcome.findings if f.verdict is Verdict.EMPTY}
    window = next(f for f in outcome.findings if f.part == "window")
    for group in made:
        exact = wanted[identity(outcome.change, group)]
        for id_, found in group.items():
            # Of equal orderings any value will do.
            if id_ in empty or id_ == "window" or id_.endswith("valueWithExtremumOrdering"):
                continue
            is_set = isinstance(found, frozenset)
            assert found == (exact[id_] if is_set else pytest.approx(exact[id_])), id_
    partial = window.verdict is Verdict.KEPT and window.marked
    if not partial:
        assert len(made) == len(wanted)


def widened(window: str, wider: str) -> tuple[Plan, Plan]:
    """The plans of groups in windows and of groups in others."""
    calls = ("SUM(v)", "COUNT(*)", "COUNT(DISTINCT w)")
    return plan_of(1, KEYS[2], calls, window), plan_of(2, KEYS[0], calls, wider)


def change(old: Plan, new: Plan) -> OperatorChange:
    """The runtime's document about the groups."""
    return document(answered(old, new)).operators["spend"]


@cache
def that_become_wider() -> list[tuple[str, str]]:
    """The pairs of windows of which the second are made of several of the first."""
    possible = [
        pair
        for pair in product(WINDOWS[:10], repeat=2)
        if plan_migration(*widened(*pair)).exit_code < 2
    ]
    windows = {one: change(*widened(*one)).window for one in possible}
    return [one for one, window in windows.items() if window is not None and window.merges]


@given(st.deferred(lambda: st.sampled_from(that_become_wider())), ROWS, st.integers(0, 700))
def test_wider_windows_lack_what_has_closed_and_nothing_else(
    windows: tuple[str, str], rows: list[dict[str, Any]], second: int
) -> None:
    """Windows whose first part was open are all there, and complete."""
    old, new = widened(*windows)
    found = change(old, new)
    assert found.window is not None and found.window.merges is not None
    merged = found.window.merges.of
    assert merged is not None
    watermark = second * SECOND
    open_ = [group for group in groups_of(old, rows) if group["window"]["end"] > watermark]
    made = {identity(found, group): group for group in migrate(found, open_)}
    for group in groups_of(new, rows):
        if group["window"]["start"] + merged > watermark:
            assert made.pop(identity(found, group)) == group
    assert all(group["window"]["end"] > watermark for group in made.values())


SESSIONS = "SESSION(payments PARTITION BY card, at, INTERVAL {gap} SECONDS)"


@given(ROWS, st.integers(1, 90), st.integers(0, 90))
def test_sessions_with_a_wider_gap(rows: list[dict[str, Any]], gap: int, more: int) -> None:
    old, new = (
        plan_of(version, ("card",), ("SUM(v)", "COUNT(*)"), SESSIONS.format(gap=length))
        for version, length in ((1, gap), (2, gap + more))
    )
    plan = accepted(old, new)
    found = document(plan).operators["spend"]
    assert found.kind == "session"
    migrated = migrate(replace(found, group=False), sessions(rows, gap))
    assert joined(migrated) == sessions(rows, gap + more)


def sessions(rows: list[dict[str, Any]], gap: int) -> list[dict[str, Any]]:
    """Return the sessions of each card, by their cards and beginnings."""
    single = [
        {
            "card": row["card"],
            "window": {"start": row["at"], "end": row["at"] + gap * SECOND},
            "sum(v)": row["v"],
            "count(*)": 1,
        }
        for row in rows
    ]
    return joined(single)


def joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return sessions in which those that touch have become one."""
    found: list[dict[str, Any]] = []
    for part in sorted(parts, key=lambda p: (p["card"], p["window"]["start"])):
        last = found[-1] if found and found[-1]["card"] == part["card"] else None
        if last is not None and part["window"]["start"] <= last["window"]["end"]:
            end = max(last["window"]["end"], part["window"]["end"])
            last["window"] = {"start": last["window"]["start"], "end": end}
            last["sum(v)"] += part["sum(v)"]
            last["count(*)"] += part["count(*)"]
        else:
            found.append({**part, "window": dict(part["window"])})
    return found
