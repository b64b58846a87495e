"""What holds for all plans of migrations: nothing is forgotten, and edits compose."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from compiled import compiled, compiled_text, plan_in
from golden_extension import cases
from hypothesis import given
from hypothesis import strategies as st
from migration_interpreter import identity, migrate
from streamc.compiler.migrate.compared.versions import (
    aggregates_of,
    alive,
    side_columns,
    waiting_columns,
)
from streamc.compiler.migrate.findings.decisions import Decisions
from streamc.compiler.migrate.findings.verdicts import MigrationPlan, Verdict
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.document import document
from streamc.compiler.migrate.results.draft import draft
from streamc.compiler.migrate.results.text import plan_text
from streamc.contracts.migration import CellChange
from streamc.contracts.plan import Join, Plan, cells_of, inputs_of, timers_of
from test_migration_oracle import ROWS, accepted, groups_of, plan_of

GOLDEN = cases("golden")
PAIRS = cases("migrations", "old.stream")


SIDES = ("left", "right")
ENTRIES = dict.fromkeys(("map", "set", "list"), "entries")


def compiled_plan(path: Path) -> Any:
    return compiled(path, "cards.stream").plan


def kept(plan: Plan) -> Counter[tuple[str, str, str]]:
    """Return all that a version keeps, by operator, kind of part and name."""
    found: Counter[tuple[str, str, str]] = Counter()
    for id_, entry in alive(plan).items():
        for aggregate in aggregates_of(plan, id_):
            found.update((id_, "cell", cell.id) for cell in aggregate.cells)
        for cell in cells_of(entry):
            found[id_, "cell" if cell.kind == "value" else "entries", cell.id] += 1
        found.update((id_, "timer", timer.id) for timer in timers_of(entry))
        if isinstance(entry, Join):
            for place, word in enumerate(SIDES):
                columns = side_columns(plan, entry, place)
                found.update((id_, f"column {word}", column.name) for column in columns)
    return found


def waiting(plan: Plan) -> Counter[tuple[str, str, str]]:
    """Return the columns of rows that wait for programs, whatever their inputs are called."""
    return Counter(
        (id_, "column", column.name)
        for id_, entry in alive(plan).items()
        for given in inputs_of(entry)
        for column in waiting_columns(plan, id_, given.alias) or ()
    )


def part_of(part: str) -> str:
    """Return the kind of a part. Of an input the plan has the name that it has now."""
    word, _, of = part.partition(" ")
    return word if word == "column" and of not in SIDES else ENTRIES.get(part, part)


def told(plan: MigrationPlan, version: str) -> Counter[tuple[str, str, str]]:
    """Return the parts of a version that have a verdict, but for keys and what is no part."""
    parts = ("cell", "map", "set", "list", "timer", "column")
    turned = {
        outcome.id: {"column left": "column right", "column right": "column left"}
        for outcome in plan.operators
        if version == "old" and any(finding.part == "sides" for finding in outcome.findings)
    }
    return Counter(
        (
            getattr(outcome, version) or outcome.id,
            part_of(turned.get(outcome.id, {}).get(finding.part, finding.part)),
            name,
        )
        for outcome in plan.operators
        for finding in outcome.findings
        if (name := getattr(finding, version)) is not None
        if finding.part.split()[0] in parts
    )


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
def test_nothing_becomes_of_what_is_not_edited(case: Path) -> None:
    plan = compiled_plan(case / "spec.stream")
    found = plan_migration(plan, plan)
    assert found.exit_code == 0
    assert {finding.verdict for finding in found.findings()} == {Verdict.KEPT}, plan_text(found)
    assert not any(finding.marked or finding.why for finding in found.findings())
    assert draft(found, Decisions()) == f"from: {plan.version}\nto: {plan.version}\n"
    assert told(found, "old") == kept(plan) + waiting(plan) == told(found, "new")


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: case.name)
@pytest.mark.parametrize("turned", [False, True], ids=["on", "back"])
def test_every_part_has_one_verdict(case: Path, turned: bool) -> None:
    old, new = (compiled_plan(case / f"{name}.stream") for name in ("old", "new"))
    if turned:
        old, new = new, old
    check(old, new)


@given(st.sampled_from(GOLDEN), st.sampled_from(GOLDEN))
def test_every_part_has_one_verdict_between_any_two_specs(one: Path, other: Path) -> None:
    check(compiled_plan(one / "spec.stream"), compiled_plan(other / "spec.stream"))


def check(old: Any, new: Any) -> None:
    plan = plan_migration(old, new)
    before, after = told(plan, "old"), told(plan, "new")
    assert kept(old) - before == Counter() and kept(new) - after == Counter(), plan_text(plan)
    assert before - kept(old) - waiting(old) == Counter(), plan_text(plan)
    assert after - kept(new) - waiting(new) == Counter(), plan_text(plan)
    given = document(plan)
    assert list(given.operators) == list(alive(new))
    assert set(given.sources) == set(new.sources)
    assert set(given.sinks) == set(new.sinks)
    for outcome in plan.operators:
        if outcome.change is not None and outcome.kind in ("aggregate", "session"):
            cells = [cell.id for cell in outcome.change.cells]
            wanted = aggregates_of(new, str(outcome.new))
            assert cells == [cell.id for one in wanted for cell in one.cells]


# Edits one after the other, and together.

CALLS = ("SUM(v)", "COUNT(*)", "MAX(w)", "AVG(d)", "STDDEV_SAMP(w)")
MINUTE, FOUR = (f"TUMBLE(payments, at, INTERVAL {n})" for n in ("1 MINUTE", "4 MINUTES"))


@given(ROWS)
def test_a_key_dropped_then_wider_windows_is_both_at_once(rows: list[dict[str, Any]]) -> None:
    first = plan_of(1, ("card", "land"), CALLS, MINUTE)
    second = plan_of(2, ("card",), CALLS, MINUTE)
    third = plan_of(3, ("card",), CALLS, FOUR)
    steps = [
        document(accepted(*pair)).operators["spend"] for pair in ((first, second), (second, third))
    ]
    at_once = document(accepted(first, third)).operators["spend"]
    groups = groups_of(first, rows)
    stepwise = migrate(steps[1], migrate(steps[0], groups))
    found = {identity(at_once, group): group for group in migrate(at_once, groups)}
    assert len(stepwise) == len(found)
    for group in stepwise:
        other = found[identity(at_once, group)]
        assert group == {
            name: pytest.approx(value) if name != "window" else value
            for name, value in other.items()
        }


def streams(*names: str) -> Plan:
    """Return the plan of a spec with a column, a stream and a source of these names."""
    column, stream, source = names
    result = compiled_text(
        f"CREATE SOURCE {source} (card STRING NOT NULL, {column} DOUBLE, at TIMESTAMP, "
        "WATERMARK FOR at AS at - INTERVAL 30 SECONDS) "
        "WITH (connector = 'files', path = 'in', format = 'json');\n"
        f"CREATE STREAM {stream} AS SELECT card, window_start, SUM({column}) AS total "
        f"FROM TUMBLE({source}, at, INTERVAL 1 MINUTE) GROUP BY card, window_start;\n"
        f"CREATE SINK out FROM {stream} WITH (connector = 'files', path = 'o', format = 'json');\n",
        "cards.stream",
    )
    return plan_in(result)


def test_renames_compose() -> None:
    decided = Decisions(
        {
            ("operators", "spending", "from"): "spend",
            ("operators", "spending", "rename", "sum(v)"): "sum(w)",
            ("sources", "paid", "from"): "payments",
        }
    )
    plan = plan_migration(
        streams("v", "spend", "payments"), streams("w", "spending", "paid"), decided
    )
    assert plan.exit_code == 0
    assert {finding.verdict for finding in plan.findings()} == {Verdict.KEPT}
    assert list(decided.unused()) == []
    cells = document(plan).operators["spending"].cells
    assert cells == (CellChange("sum(w)", "`sum(v)`", ("sum(v)",), merge=None),)
