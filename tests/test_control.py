"""A job inspected and stopped from another process, by the files of its state folder alone."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cli_run import Run, run
from json_outputs import output
from small_plans import small_plan
from streamc.contracts.notes.answer import Answer
from streamc.contracts.notes.generation import Generation
from streamc.contracts.notes.status import LastBarrier, OperatorProgress, QueryProgress, Stall
from streamc.contracts.notes.stop_request import StopRequest
from streamc.runtime import RuntimeFault, Standing, stop_pipeline
from streamc.runtime.execution.status import StatusFile
from streamc.runtime.state.lease import Holder, Lease, lease_file
from streamc.runtime.state.mailbox import ENDED, FAILED, Mailbox
from streamc.runtime.storage.local_files import LocalFiles
from streamc.runtime.storage.notes import seal
from test_manifests import MANIFEST

__all__ = ["run"]

FILES = LocalFiles()
NOW = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
QUERY = QueryProgress(
    query="per_minute",
    batch=12,
    rows_in=1200,
    rows_out=40,
    rate_in=1.0,
    rate_processed=2.0,
    watermark=NOW,
    lag_seconds=5.0,
    operators=(OperatorProgress("per_minute", "aggregate", 2, 1),),
    active=True,
)
PLAN = small_plan("card_spend", 3)


Answering = Callable[[Mailbox, StopRequest], None]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    note(folder / "state.json", {"format": 2, "id": "1", "pipeline": "card_spend"})
    first = Generation("0001", None, (), made_at=NOW)
    note(folder / "generations/0001/generation.json", first.to_json())
    return folder


def note(path: Path, document: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(seal(document), encoding="utf-8")
    return path


def barrier(state: Path, number: int, generation: str = "0001", **changes: Any) -> Path:
    """Writes a barrier, and the file that it relies on."""
    manifest = replace(MANIFEST, barrier=number, epoch=number * 3, generation=generation, **changes)
    folder = state / f"generations/{generation}"
    for path in manifest.files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("{}", encoding="utf-8")
    return note(folder / f"barriers/{number:09d}.json", manifest.to_json())


@contextmanager
def job(state: Path, answer: Answering | None = None) -> Iterator[Lease]:
    """A run that holds the folder and, in a thread, handles a request as configured."""
    lease = Lease(FILES, str(state), str(state), local=True)
    box = Mailbox(FILES, str(state), lease.holder.owner)
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            for request in box.requests():
                if answer is not None:
                    answer(box, request)
                    lease.release()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield lease
    finally:
        over.set()
        thread.join()
        lease.release()


def status_of(lease: Lease, state: Path) -> None:
    last = LastBarrier(4, 10, datetime.now(UTC), 210)
    file = StatusFile(FILES, str(state), lease.holder)
    file.write(PLAN, "0001", Standing("running", 12, last, 25.0), [QUERY])


# Stopping.


def test_a_job_is_stopped(run: Run, state: Path) -> None:
    seen: list[bool] = []

    def obey(box: Mailbox, request: StopRequest) -> None:
        seen.append(request.drain)
        box.answer(request, Answer("finishing the epoch in flight"))
        time.sleep(0.5)
        box.answer(request, Answer(ENDED, barrier=5, epoch=14))

    with job(state, obey):
        ended = run("stop", "--state", str(state), "--drain")
    assert ended.code == 0, ended.err
    who = f"process {os.getpid()} on {os.uname().nodename}"
    assert ended.out.splitlines() == [
        f"asked {who} to drain and stop",
        "finishing the epoch in flight",
        "stopped with barrier 5, epoch 14",
    ]
    assert seen == [True]
    assert not list(state.glob("control/*/*")), "nothing is left of it"


def test_a_job_that_ends_otherwise(run: Run, state: Path) -> None:
    def fail(box: Mailbox, request: StopRequest) -> None:
        box.answer(request, Answer(FAILED, "with: query `q` failed: no space left"))

    with job(state, fail):
        ended = run("stop", "--state", str(state))
    assert ended.code == 1
    assert "error[SR0409] not-stopped: process " in ended.err
    assert "has ended with: query `q` failed: no space left" in ended.err


def test_a_job_that_is_killed_meanwhile(state: Path) -> None:
    def crash(box: Mailbox, request: StopRequest) -> None:
        """Ends without an answer."""

    with job(state, crash), pytest.raises(RuntimeFault, match="has ended without an answer"):
        stop_pipeline(str(state), timeout=10)


def test_a_job_that_takes_too_long(run: Run, state: Path) -> None:
    with job(state):
        ended = run("stop", "--state", str(state), "--timeout", "0.5")
        assert ended.code == 1
        assert "has not ended within 0.5 s; it has not answered" in ended.err


def test_requests_reach_the_run_they_are_for(state: Path) -> None:
    """Those to an earlier run, damaged ones, and those of another version are ignored."""
    earlier = Mailbox(FILES, str(state), "other")
    request = StopRequest("1", "other", False, "process 1 on here", NOW.isoformat())
    folder = state / "control/requests"
    note(folder / "1.json", request.to_json())
    box = Mailbox(FILES, str(state), "me")
    assert not list(folder.iterdir()), "what was asked of a run before is discarded"
    note(folder / "1.json", request.to_json())
    mine = replace(request, id="2", owner="me")
    note(folder / "2.json", mine.to_json())
    note(folder / "3.json", {"request": "savepoint", "owner": "me"})
    note(folder / "4.json", {"request": "stop", "owner": "me"})
    (folder / "5.json").write_text("{", encoding="utf-8")
    assert box.requests() == (mine,)
    assert (box.requests(), earlier.requests()) == ((), ())


# What there is nothing to do with.


COMMANDS = (
    ("stop",),
    ("status",),
    ("barriers", "list"),
    ("barriers", "show", "4"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_no_state_folder(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    gone = run(*command, "--state", str(tmp_path / "gone"))
    assert (gone.code, gone.out) == (2, "")
    assert "error[SR0407] no-state-folder: there is no folder" in gone.err
    (tmp_path / "empty").mkdir()
    empty = run(*command, "--state", str(tmp_path / "empty"))
    assert empty.code == 2
    assert "is not a state folder: it has no state.json" in empty.err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_damaged_state_note(run: Run, state: Path, command: tuple[str, ...]) -> None:
    path = state / "state.json"
    path.write_text(path.read_text(encoding="utf-8").replace("card", "cart"), encoding="utf-8")
    ended = run(*command, "--state", str(state))
    assert ended.code == 2
    assert f"error[SR0403] state-unreadable: {path} cannot be read" in ended.err


def test_nothing_runs(run: Run, state: Path) -> None:
    ended = run("stop", "--state", str(state))
    assert (ended.code, ended.out) == (2, "")
    assert "error[SR0408] nothing-runs: no job runs on the state" in ended.err
    gone = Holder.here(30.0)
    note(Path(lease_file(str(state))), asdict(replace(gone, processes={str(gone.pid): "1"})))
    assert run("stop", "--state", str(state)).code == 2


# Status.


def test_status_of_a_running_job(run: Run, state: Path) -> None:
    with job(state) as lease:
        starting = run("status", "--state", str(state))
        assert starting.out.splitlines()[1:] == ["  starting"]
        status_of(lease, state)
        text, as_json = (
            run("status", "--state", str(state)),
            run("status", "--state", str(state), "--format", "json"),
        )
    assert (text.code, as_json.code) == (0, 0)
    first, second, third, *table = text.out.splitlines()
    assert first.startswith(f"card_spend: process {os.getpid()} on {os.uname().nodename}, since ")
    assert second == "  as of 0 s ago: version 3, generation 0001"
    assert third == "  epoch 12; barrier 4: epoch 10, 0 s ago, took 0.2 s; next in 25 s"
    assert [line.split() for line in table[1:]] == [
        ["per_minute", "12", "1,200", "40", "2026-03-01", "10:00:00"],
        ["per_minute", "2", "1"],
    ]
    found = output(as_json.out)
    assert (found["running"], found["pid"], found["epoch"]) == (True, os.getpid(), 12)
    assert found["barrier"]["barrier"] == 4
    assert found["queries"][0]["operators"][0]["late_rows"] == 1


def test_status_of_a_job_that_has_stalled(run: Run, state: Path) -> None:
    stall = Stall(42.0, "the sources were asked 42 s ago and have not answered", False)
    with job(state) as lease:
        file = StatusFile(FILES, str(state), lease.holder)
        file.write(PLAN, "0001", Standing("running", 12, None, 25.0, stall), [QUERY])
        text = run("status", "--state", str(state))
        found = output(run("status", "--state", str(state), "--format", "json").out)
    assert text.code == 1
    assert text.out.splitlines()[3] == f"  stalled: for 42 s, {stall.reason}"
    assert (found["running"], found["stalled"]) == (True, f"for 42 s, {stall.reason}")


def test_status_of_a_job_that_says_nothing(run: Run, state: Path) -> None:
    """Its process exists and holds the state."""
    with job(state) as lease:
        status_of(lease, state)
        before = time.time() - 60
        os.utime(state / "control/status.json", (before, before))
        text = run("status", "--state", str(state))
    assert text.code == 1
    assert "\n  stalled: it has not reported its status for 6" in text.out


def test_status_when_nothing_runs(run: Run, state: Path) -> None:
    never = run("status", "--state", str(state))
    assert (never.code, never.out) == (1, "card_spend: no job runs\n")
    with job(state) as lease:
        status_of(lease, state)
    ended = run("status", "--state", str(state))
    assert ended.code == 1
    assert ended.out.splitlines()[0] == "card_spend: no job runs"
    assert "last seen 0 s ago: version 3" in ended.out
    found = output(run("status", "--state", str(state), "--format", "json").out)
    assert (found["running"], found["pid"], found["epoch"]) == (False, None, 12)


def test_the_status_of_an_earlier_run_is_not_shown(run: Run, state: Path) -> None:
    with job(state) as lease:
        status_of(lease, state)
    with job(state):
        shown = run("status", "--state", str(state)).out
    assert shown.splitlines()[1:] == ["  starting"]


def test_a_damaged_status(run: Run, state: Path) -> None:
    note(state / "control/status.json", {"owner": "x", "phase": "running"})
    ended = run("status", "--state", str(state))
    assert ended.code == 2
    assert "control/status.json cannot be read: it is not a status" in ended.err


# Barriers.


def test_barriers_are_listed(run: Run, state: Path) -> None:
    assert run("barriers", "list", "--state", str(state)).out == (
        "no barrier has been completed yet\n"
    )
    for number in (3, 4, 5, 6):
        barrier(state, number, files={f"epochs/{number * 3:09d}.json": (2, "a3b2c1d0")})
    damaged = state / "generations/0001/barriers/000000005.json"
    damaged.write_text(damaged.read_text(encoding="utf-8").replace("15", "16", 1), "utf-8")
    (state / "generations/0001/epochs/000000009.json").unlink()
    ended = run("barriers", "list", "--state", str(state))
    assert ended.code == 0
    heads, *lines = (line.split() for line in ended.out.splitlines())
    assert heads[:3] == ["barrier", "epoch", "gen."]
    took = "2026-03-01 10:05:01 1.2 s 42 3.0 KiB 14 6".split()
    assert lines == [
        ["3", "9", "0001", *took, *"no: epochs/000000009.json is missing".split()],
        ["4", "12", "0001", *took, "yes"],
        "5 0001 no: its manifest is damaged: its content and its checksum differ".split(),
        ["6", "18", "0001", *took, "yes"],
    ]
    ended = run("barriers", "list", "--state", str(state), "--format", "json")
    found = output(ended.out)["barriers"]
    assert [one["restorable"] for one in found] == [False, True, False, True]
    assert found[1]["state_bytes"] == 3048 and "files" not in found[1]


def test_barriers_of_an_older_generation(run: Run, state: Path) -> None:
    barrier(state, 4)
    second = Generation("0002", None, (), made_at=NOW)
    note(state / "generations/0002/generation.json", second.to_json())
    shown = run("barriers", "list", "--state", str(state)).out
    assert shown.splitlines()[1].endswith("no: generation 0002 has taken its place")


def test_a_barrier_is_shown(run: Run, state: Path) -> None:
    barrier(state, 4)
    shown = run("barriers", "show", "4", "--state", str(state))
    assert shown.code == 0
    lines = [line.split() for line in shown.out.splitlines()]
    assert lines[0] == "barrier 4: card_spend version 1, epoch 12 of generation 0001".split()
    asked = "requested at 2026-03-01 10:05:00 UTC, complete 1.2 s later"
    assert lines[1] == asked.split()
    assert ["per_minute", "12", "2026-03-01", "09:55:00", "900", "ms", "7", "3"] in lines
    assert ["once", "dedup", "1", "40", "1000", "B", "2"] in lines
    assert ["spend", "12", "3", "1", "912", "B"] in lines
    assert ["payments", '{"logOffset":', "3}"] in lines
    found = output(run("barriers", "show", "4", "--state", str(state), "--format", "json").out)
    assert found["queries"]["per_minute"]["operators"][1]["id"] == "once"
    assert found["restorable"] is False and found["problem"] == "sources/payments: it is missing"


def test_a_barrier_that_is_not_there(run: Run, state: Path) -> None:
    none = run("barriers", "show", "1", "--state", str(state))
    assert none.code == 2 and "no barrier has been completed yet" in none.err
    path = barrier(state, 4)
    other = run("barriers", "show", "7", "--state", str(state))
    assert other.code == 2
    assert "has no barrier 7" in other.err and "it has 4" in other.err
    path.write_text("{}", encoding="utf-8")
    damaged = run("barriers", "show", "4", "--state", str(state))
    assert damaged.code == 0
    assert damaged.out.startswith("barrier 4 of generation 0001: its manifest is damaged")


def test_looking_and_stopping_start_no_jvm(state: Path) -> None:
    import subprocess

    code = (
        "import sys\n"
        "from streamc.runtime import read_status, stop_pipeline\n"
        "from streamc.runtime.state.history import read_barriers\n"
        f"read_status({str(state)!r}); read_barriers({str(state)!r})\n"
        "assert not {'pyspark', 'py4j'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
