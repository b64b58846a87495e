"""What a rescaling is refused for, and what it foresees, from the files of a state alone."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cli_run import Ended, Run, run
from compiled import compiled_text, written
from json_outputs import output
from streamc.contracts.json_records import Malformed
from streamc.contracts.notes.barrier import Manifest, OperatorState, SinkCut
from streamc.contracts.notes.generation import CountedGeneration, Generation, Origin
from streamc.contracts.notes.rescaling import RescalingNote
from streamc.contracts.notes.run_plan import RunPlan
from streamc.contracts.reserved import SHUFFLE_PARTITIONS
from streamc.runtime.plan.plan import load_plan, plan_path
from streamc.runtime.state.lease import Lease
from streamc.runtime.state.rollback import counts_up_to
from streamc.runtime.storage.local_files import LocalFiles
from test_control import note
from test_manifests import MANIFEST, QUERY

__all__ = ["run"]

NOW = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
SOURCE = """\
CREATE SOURCE clicks (page STRING, cost BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 10 MINUTES
) WITH (connector = 'files', path = 'data/clicks', format = 'json');
"""
SPENT = """\
CREATE STREAM spend AS
  SELECT page, window_start, SUM(cost) AS cost FROM TUMBLE(clicks, ts, INTERVAL 5 MINUTES)
  GROUP BY page, window_start;
"""
SINK = (
    "CREATE SINK spend_out FROM spend WITH (connector = 'files', path = 'out', format = 'json');\n"
)
PAGES = "CREATE STREAM spend AS SELECT page, cost FROM clicks WHERE cost > 0;\n"
ALL = """\
CREATE STREAM spend WITH (unbounded = 'one row') AS
  SELECT SUM(cost) AS cost FROM clicks EMIT CHANGES;
"""
CALLED = "CREATE SINK spend_out FROM spend WITH (connector = 'console');\n"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state in four partitions at barrier 4 of epoch 12, in `state` beside `spend.py`."""
    return _state(tmp_path, SOURCE + SPENT + SINK)


def _state(root: Path, spec: str, **changes: Any) -> Path:
    script = written(compiled_text(f"---\npipeline: spend\n---\n{spec}", "spend.stream"), root)
    folder = root / "state"
    place = folder / "generations/0001"
    note(folder / "state.json", {"format": 2, "id": "1", "pipeline": "spend"})
    note(place / "generation.json", Generation("0001", None, (), made_at=NOW).to_json())
    note(place / "plan.json", RunPlan(load_plan(plan_path(script)), None).to_json())
    offsets = place / "queries/spend/offsets/12"
    offsets.parent.mkdir(parents=True)
    known = {"batchWatermarkMs": 0, "conf": {SHUFFLE_PARTITIONS: "4"}}
    offsets.write_text(f"v2\n{json.dumps(known)}\nclicks:{{}}", encoding="utf-8")
    kept = (OperatorState("spend", 0, "aggregate", 40, 3_000_000, 4),)
    query = replace(QUERY, operators=kept)
    note(place / "barriers/000000004.json", _manifest({"spend": query}, **changes).to_json())
    return folder


def _manifest(queries: dict[str, Any], **changes: Any) -> Manifest:
    sinks = {"spend_out": SinkCut(12, 3, 1, 912, "files")}
    own = {"pipeline": "spend", "queries": queries, "sinks": sinks, "ledger": {}, **changes}
    return replace(MANIFEST, **own)


def asked(run: Run, partitions: object = 8, *options: str, state: str = "state") -> Ended:
    return run("rescale", "spend.py", "--state", state, "--partitions", str(partitions), *options)


def refused(run: Run, partitions: object = 8, *options: str, state: str = "state") -> str:
    ended = asked(run, partitions, "--yes", *options, state=state)
    assert (ended.code, ended.out) == (2, "")
    return ended.err


def test_what_is_foreseen(run: Run, state: Path) -> None:
    ended = asked(run, 8, "--dry-run")
    assert ended.out.splitlines() == [
        "state: 4 -> 8 partitions, from barrier 4 of 2026-03-01 10:05:01 UTC, epoch 12",
        "  operator  rows     size  query",
        "  spend       40  2.9 MiB  spend",
        "rewritten: 40 rows, 2.9 MiB; how long that takes is not known before the first time",
        "nothing was changed",
    ]
    cost = RescalingNote(2, 4, 1_000_000, 1.5)
    note(state / "generations/0001/rescaling.json", cost.to_json())
    again = asked(run, 8, "--dry-run").out.splitlines()
    assert again[3].endswith("2.9 MiB; about 4 s, if a MB takes 1.5 s as the last time")
    found = output(asked(run, 8, "--dry-run", "--format", "json").out)
    assert (found["before"], found["after"], found["seconds"]) == (4, 8, 4.5)
    assert (found["rows"], found["bytes"], found["again"]) == (40, 3_000_000, 0)
    assert (found["generation"], found["savepoint"]) == (None, None)


def test_epochs_after_the_barrier(run: Run, state: Path) -> None:
    note(state / "generations/0001/epochs/000000014.json", {"epoch": 14, "sources": {}})
    shown = asked(run, 8, "--dry-run").out
    assert "2 epochs run again: they came after the barrier" in shown


def test_epochs_that_a_sink_cannot_take_back(run: Run, tmp_path: Path) -> None:
    sinks = {"spend_out": SinkCut(12, 3, connector="console")}
    state = _state(tmp_path, SOURCE + SPENT + CALLED, sinks=sinks)
    assert asked(run, 8, "--dry-run").code == 0
    note(state / "generations/0001/epochs/000000013.json", {"epoch": 13, "sources": {}})
    err = refused(run)
    assert "error[SR0417] not-rescaled: 1 epoch after barrier 4 would run again" in err
    assert "`spend_out` can't take back" in err and "streamc stop --state state" in err


def test_nobody_is_there_to_ask(run: Run, state: Path) -> None:
    ended = asked(run)
    assert ended.code == 2
    assert "error[SR0413] not-confirmed: nothing was changed" in ended.err


@pytest.mark.parametrize("number", [0, -1, 100_001])
def test_a_number_out_of_range(run: Run, state: Path, number: int) -> None:
    assert f"error[SR0417] not-rescaled: {number} is not a number of partitions" in refused(
        run, number
    )


def test_no_number_at_all(run: Run, state: Path) -> None:
    err = refused(run, "many")
    assert "--partitions" in err and "'many'" in err


def test_the_same_number(run: Run, state: Path) -> None:
    assert "error[SR0417] not-rescaled: the state state is in 4 partitions already" in refused(
        run, 4
    )


def test_a_state_that_is_none_or_another_pipelines(run: Run, state: Path) -> None:
    assert "error[SR0407] no-state-folder: there is no folder gone" in refused(run, state="gone")
    note(state / "state.json", {"format": 2, "id": "1", "pipeline": "cards"})
    assert "error[SR0402] foreign-state: state is the state of pipeline `cards`" in refused(run)


def test_a_running_job(run: Run, state: Path) -> None:
    lease = Lease(LocalFiles(), str(state), str(state), local=True)
    try:
        err = refused(run)
    finally:
        lease.release()
    assert "error[SR0401] state-in-use: process " in err
    assert "`streamc stop --state state`" in err


def test_a_state_without_a_batch_or_a_barrier(run: Run, state: Path) -> None:
    (state / "generations/0001/barriers/000000004.json").unlink()
    assert "error[SR0411] no-such-barrier: the state state has no barrier" in refused(run)
    (state / "generations/0001/queries/spend/offsets/12").unlink()
    err = refused(run)
    assert "no batch has run on it" in err and f"`{SHUFFLE_PARTITIONS}` to 8" in err


def test_a_state_of_another_version(run: Run, state: Path, tmp_path: Path) -> None:
    spec = "---\npipeline: spend\n---\n" + SOURCE + SPENT.replace("5 MINUTES", "6 MINUTES") + SINK
    written(compiled_text(spec, "spend.stream"), tmp_path)
    assert "error[SR0417] not-rescaled: the state state is of another version" in refused(run)


def test_a_pipeline_without_state(run: Run, tmp_path: Path) -> None:
    _state(tmp_path, SOURCE + PAGES + SINK)
    assert "keeps no state: its tasks are as many as the partitions of its sources" in refused(run)


def test_a_state_of_one_group(run: Run, tmp_path: Path) -> None:
    sinks = {"spend_out": SinkCut(12, 3, connector="console", upserts=True)}
    _state(tmp_path, SOURCE + ALL + CALLED, sinks=sinks)
    err = refused(run)
    assert "no operator of `spend` can be in other partitions" in err
    assert "spend: it has no key, so that all its rows are in one group" in err


def test_another_number_in_the_spec(run: Run, tmp_path: Path) -> None:
    spec = f"---\npipeline: spend\nspark: {{{SHUFFLE_PARTITIONS}: 4}}\n---\n" + SOURCE
    _state(tmp_path, SOURCE + SPENT + SINK)
    written(compiled_text(spec + SPENT + SINK, "spend.stream"), tmp_path)
    shown = asked(run, 8, "--dry-run").out
    assert f"the spec asks for 4: set `{SHUFFLE_PARTITIONS}` to 8" in shown


def test_up_to_which_barrier_an_earlier_generation_counts() -> None:
    origin = Origin("0001", 4, 12, 12, "before")
    begun = Generation("0002", origin, (CountedGeneration("0001", {"q": 12}, True),), made_at=NOW)
    earlier, later = (_manifest({"q": replace(QUERY, batch=batch)}) for batch in (12, 13))
    assert counts_up_to(begun, "0001", earlier)
    assert not counts_up_to(begun, "0001", later), "its rows may be gone"
    assert not counts_up_to(begun, "0003", earlier)
    rolled_back = replace(begun, origin=replace(origin, savepoint=None))
    assert not counts_up_to(rolled_back, "0001", earlier)
    # One of another state.
    assert not counts_up_to(replace(begun, lineage=()), "0001", earlier)


def test_a_note_of_no_duration() -> None:
    good = RescalingNote(2, 4, 10, 1.5)
    assert RescalingNote.from_json(good.to_json()) == good
    with pytest.raises(Malformed):
        RescalingNote.from_json({**good.to_json(), "seconds": -1.0})
