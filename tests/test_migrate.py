"""What becomes of each part of the state between two versions of a spec: a folder a case.

``verdicts.txt`` is what ``streamc savepoint plan`` prints, ``migration.json`` what the runtime is
given, ``draft.yaml`` the file with the decisions that are missing. ``rows.yaml``, where a case has
it, runs on Spark: see ``test_migrations_spark.py``. In ``evolutions`` it is a spec of the project
that gets another version, unless the case has an old one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from compiled import compiled, plan_in
from golden_extension import cases
from migration_interpreter import parsed
from streamc.compiler.migrate.files.read import read_migration, tell_unused
from streamc.compiler.migrate.findings.decisions import Decisions
from streamc.compiler.migrate.findings.verdicts import MigrationPlan
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.differences import with_meaning
from streamc.compiler.migrate.results.document import document
from streamc.compiler.migrate.results.draft import draft
from streamc.compiler.migrate.results.text import plan_text
from streamc.compiler.plan.compare import Change, Difference, Edit, compare_plans
from streamc.contracts.plan import Plan
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile

CASES = [*cases("migrations", "old.stream"), *cases("evolutions", "new.stream")]
SPECS = Path(__file__).parent.parent / "specs"


def plan_of(case: Path, name: str) -> Plan:
    path = case / f"{name}.stream"
    if not path.exists():
        path = SPECS / case.name / f"{case.name}.stream"
    return plan_in(compiled(path, "cards.stream"))


def migration_of(case: Path, text: str | None = None) -> tuple[MigrationPlan, Decisions]:
    """Return the plan of a case with the decisions of a file: its own, or a text."""
    old, new = plan_of(case, "old"), plan_of(case, "new")
    own = case / "migration.yaml"
    if text is None and own.exists():
        text = own.read_text(encoding="utf-8")
    if text is None:
        return plan_migration(old, new), Decisions()
    diagnostics = Diagnostics(SourceFile("migration.yaml", text))
    decisions = read_migration(old, new, diagnostics)
    plan = plan_migration(old, new, decisions)
    tell_unused(decisions, diagnostics)
    assert not len(diagnostics), render([diagnostics])
    return plan, decisions


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_migrations(case: Path, golden: Callable[[str, str], None]) -> None:
    plan, decisions = migration_of(case)
    golden("verdicts.txt", f"{plan_text(plan)}exit code {plan.exit_code}\n")
    golden("migration.json", document(plan).to_text())
    golden("draft.yaml", draft(plan, decisions))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_draft_leaves_open_only_what_is_impossible(case: Path) -> None:
    plan, decisions = migration_of(case)
    again, said = migration_of(case, draft(plan, decisions))
    assert again.exit_code in (0, 2)
    assert (again.exit_code == 2) == (plan.exit_code == 2)
    if again.exit_code == 0:
        lines = draft(again, said).splitlines()
        assert not [line for line in lines if line.lstrip().startswith("#")]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if (case / "migration.yaml").exists()],
    ids=lambda case: case.name,
)
def test_a_first_draft_is_accepted(case: Path) -> None:
    """For undecided questions; that it can be restored is tested on Spark."""
    old, new = plan_of(case, "old"), plan_of(case, "new")
    plan = plan_migration(old, new)
    again, _ = migration_of(case, draft(plan, Decisions()))
    assert again.exit_code == (2 if plan.exit_code == 2 else 0)


def changes_of(case: Path) -> tuple[Change, ...]:
    """Return the changes of operators that `streamc diff` prints above their verdicts."""
    old, new = plan_of(case, "old"), plan_of(case, "new")
    return with_meaning(compare_plans(old, new), plan_migration(old, new)).operators


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_migration_reports_is_not_unchanged(case: Path) -> None:
    plan = plan_migration(plan_of(case, "old"), plan_of(case, "new"))
    reported = {outcome.id for outcome in plan.operators if not outcome.is_untouched}
    unchanged = {one.id for one in changes_of(case) if one.difference is Difference.UNCHANGED}
    assert not reported & unchanged


@pytest.mark.parametrize(
    ("name", "difference", "edits"),
    [
        ("unchanged", Difference.UNCHANGED, ()),
        ("change_filter", Difference.MEANING, ()),
        ("change_computed_argument", Difference.MEANING, ()),
        ("longer_watermark_delay", Difference.MEANING, ()),
        ("remove_join_column", Difference.CHANGED, (Edit("keeps column left amount", "", None),)),
        ("unread_aggregate_is_read", Difference.CHANGED, (Edit("keeps cell max(v)", None, ""),)),
    ],
)
def test_changes_of_layout_and_of_meaning(
    name: str, difference: Difference, edits: tuple[Edit, ...]
) -> None:
    (case,) = (case for case in CASES if case.name == name)
    (changed,) = changes_of(case)
    assert (changed.difference, changed.edits) == (difference, edits)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_the_runtime_is_given_can_be_read(case: Path) -> None:
    plan, _ = migration_of(case)
    for text in expressions(document(plan).to_json()["operators"]):
        parsed(text)


def expressions(found: Any) -> Iterator[str]:
    """Yield the SQL in a part of a document; merges that are a word are no expression."""
    if isinstance(found, list):
        for one in found:
            yield from expressions(one)
    elif isinstance(found, dict):
        for name, one in found.items():
            if name in ("expr", "where", "merge", "key", "value") and one is not None:
                yield one
            elif name == "keys" and all(isinstance(key, str) for key in one):
                yield from one
            else:
                yield from expressions(one)
