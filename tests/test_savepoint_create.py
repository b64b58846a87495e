"""`savepoint create`: what shows without a Spark is told before one is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from compiled import compiled
from streamc.runtime import RuntimeFault
from streamc.runtime.base.errors import SPARK_START
from test_control import Run, barrier, job, note, run, state

__all__ = ["run", "state"]


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was requested: a Spark, of which there is none, or to wait for others."""
    asked: list[str] = []

    def started(*arguments: object) -> None:
        asked.append("spark")
        raise RuntimeFault(SPARK_START, "none is started here")

    monkeypatch.setattr("streamc.runtime.savepoints.process.run_session", started)
    # The barriers of these states have no files that Spark would go on from.
    whole = "streamc.runtime.savepoints.take.create.Examination.barrier_damage"
    monkeypatch.setattr(whole, lambda examination, manifest: ())
    monkeypatch.setattr(
        "streamc.cli.savepoints.savepoint.yield_to_jobs", lambda: asked.append("yield")
    )
    return asked


def test_a_savepoint_without_a_barrier(run: Run, state: Path, no_spark: list[str]) -> None:
    create = ("savepoint", "create", "--state", str(state))
    ended = run(*create)
    assert ended.code == 2 and "has no barrier yet" in ended.err
    barrier(state, 4)
    assert "has no barrier 9" in run(*create, "--barrier", "9").err
    (state / "savepoints/taken").mkdir(parents=True)
    assert "savepoint `taken` already exists" in run(*create, "--name", "taken").err
    assert no_spark == []


def test_a_savepoint_waits_for_jobs_that_run_only(
    run: Run, state: Path, no_spark: list[str]
) -> None:
    barrier(state, 4)
    spec = Path(__file__).parents[1] / "specs" / "ab_counts" / "ab_counts.stream"
    plan = json.loads(str(compiled(spec, "ab_counts.stream").plan_json))
    note(state / "generations/0001/plan.json", plan)
    create = ("savepoint", "create", "--state", str(state))
    ended = run(*create)
    assert "barrier 4 is intact; starting Spark to read its state\n" in ended.err
    assert "none is started here" in ended.err
    assert no_spark == ["spark"]
    with job(state):
        assert "a job runs on this state and has priority; pass `--no-yield`" in run(*create).err
        assert no_spark == ["spark", "yield", "spark"]
        assert "has priority" not in run(*create, "--no-yield").err
        assert no_spark == ["spark", "yield", "spark", "spark"]
