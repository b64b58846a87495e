"""What becomes of a sink's rows when a job returns to a barrier, known without a connection."""

from __future__ import annotations

from pathlib import Path

from compiled import compiled
from streamc.contracts.sinks import SINKS

TESTS = Path(__file__).parent


def restored(spec: Path) -> dict[tuple[str, bool], bool]:
    """Return for each sink of a spec, by its connector and whether it replaces rows, what holds."""
    plan = compiled(spec, spec.name).plan
    assert plan is not None
    kinds = [(sink.connector, sink.upserts) for sink in plan.sinks.values()]
    return {(kind, up): SINKS[kind].going_back(upserts=up).restores for kind, up in kinds}


def test_each_sink_says_what_going_back_does() -> None:
    assert restored(TESTS / "run" / "sinks" / "spec.stream") == {
        ("files", False): True,
        ("memory", False): True,
        ("python", False): False,
        ("console", False): False,
    }


def test_a_table_that_rows_are_added_to_cannot_go_back() -> None:
    found = restored(TESTS / "postgres" / "payments.stream")
    assert found[("postgres", True)] and not found[("postgres", False)]
