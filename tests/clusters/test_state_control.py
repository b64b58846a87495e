"""Commands on a state on S3 and HDFS answer as they do on a disk; the lease is the job's own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_run import Run, run
from clusters.servers import Store
from json_outputs import output
from streamc.contracts.notes.answer import Answer
from streamc.runtime import Standing
from streamc.runtime.execution.status import StatusFile
from streamc.runtime.state.lease import Lease
from streamc.runtime.state.mailbox import ENDED, Mailbox
from streamc.runtime.storage.disk import Disk
from streamc.runtime.storage.state_store import writable_tree
from test_control import COMMANDS, PLAN, QUERY, barrier, state

__all__ = ["run", "state"]

pytestmark = pytest.mark.cluster


@dataclass(frozen=True)
class Place:
    """A folder of a store, and its files as a job sees them."""

    url: str
    files: Disk

    def copy(self, folder: Path) -> None:
        """Copies the notes of a state from a disk."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                text = path.read_text(encoding="utf-8")
                self.files.create(f"{self.url}/{path.relative_to(folder)}", text)


@pytest.fixture
def place(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Place:
    conf = tmp_path / "conf"
    conf.mkdir()
    monkeypatch.setenv("SPARK_CONF_DIR", str(store.spark_settings(conf)))
    files, folder = writable_tree(f"{store.url}/{request.node.originalname}")
    return Place(folder, files)


def test_barriers(run: Run, state: Path, place: Place) -> None:
    for number in (3, 4):
        barrier(state, number, files={f"epochs/{number * 3:09d}.json": (2, "a3b2c1d0")})
    (state / "generations/0001/epochs/000000009.json").unlink()
    place.copy(state)
    for command in (("list",), ("show", "3"), ("show", "4"), ("show", "4", "--format", "json")):
        there = run("barriers", *command, "--state", place.url)
        # The errors have what was printed before, where the kernel was built for the place.
        assert there[:2] == run("barriers", *command, "--state", str(state))[:2]


@contextmanager
def job(place: Place) -> Iterator[Lease]:
    """A run that holds the folder and, in a thread, ends when it is asked to."""
    lease = Lease(place.files, place.url, place.url, local=False)
    box, over = Mailbox(place.files, place.url, lease.holder.owner), threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            for request in box.requests():
                box.answer(request, Answer(ENDED, barrier=5, epoch=14))
                lease.release()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield lease
    finally:
        over.set()
        thread.join()
        lease.release()


def test_status_and_stop(run: Run, state: Path, place: Place) -> None:
    place.copy(state)
    assert run("status", "--state", place.url)[:2] == run("status", "--state", str(state))[:2]
    with job(place) as lease:
        assert run("status", "--state", place.url).out.splitlines()[1:] == ["  starting"]
        file = StatusFile(place.files, place.url, lease.holder)
        file.write(PLAN, "0001", Standing("running", 12, None, 25.0), [QUERY])
        found = output(run("status", "--state", place.url, "--format", "json").out)
        assert (found["running"], found["epoch"]) == (True, 12)
        stopped = run("stop", "--state", place.url)
    assert stopped.code == 0, stopped.err
    assert stopped.out.splitlines()[-1] == "stopped with barrier 5, epoch 14"
    assert run("stop", "--state", place.url).code == 2
    assert place.files.tree(f"{place.url}/control") == ["status.json"]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_no_state(run: Run, place: Place, command: tuple[str, ...]) -> None:
    ended = run(*command, "--state", f"{place.url}/none")
    assert (ended.code, ended.out) == (2, "")
    assert "error[SR0407] no-state-folder" in ended.err and "it has no state.json" in ended.err


@pytest.mark.usefixtures("place")
def test_hdfs_that_does_not_answer(run: Run) -> None:
    ended = run("status", "--state", "hdfs://127.0.0.1:9/state")
    assert (ended.code, ended.out) == (2, "")
    assert "error[SR0418] store-unreachable: the store of hdfs://127.0.0.1:9/state" in ended.err


@pytest.mark.usefixtures("place")
def test_a_file_system_that_hadoop_does_not_have(run: Run) -> None:
    ended = run("status", "--state", "nofs://host/state")
    assert (ended.code, ended.out) == (2, "")
    assert "error[SR0320] package-missing: Hadoop has no file system for nofs:" in ended.err
