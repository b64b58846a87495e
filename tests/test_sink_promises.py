"""What becomes of a sink's rows when a job goes back to a barrier, known without a connection."""

from __future__ import annotations

from pathlib import Path

from compiled import compiled, written
from streamc.runtime.connectors.sinks import sink_promises
from streamc.runtime.plan.plan import load_plan, plan_path

TESTS = Path(__file__).parent


def test_each_sink_says_what_going_back_does() -> None:
    plan = load_plan(TESTS / "runtime_fixtures" / "spending.plan.json")
    assert {name: p.can_cut_back for name, p in sink_promises(plan).items()} == {
        "spend": True,
        "seen": True,
        "all_payments": True,
    }


def test_a_table_that_rows_are_added_to_cannot_go_back(tmp_path: Path) -> None:
    spec = TESTS / "postgres" / "payments.stream"
    plan = load_plan(plan_path(written(compiled(spec, spec.name), tmp_path)))
    promises = sink_promises(plan)
    kinds = {name: (end.connector, end.upserts) for name, end in plan.sink_ends.items()}
    assert ("postgres", True) in kinds.values() and ("postgres", False) in kinds.values()
    for name, kind in kinds.items():
        assert promises[name].can_cut_back == (kind == ("postgres", True))
