"""The lease of a state folder, held by real processes: one at a time, whatever becomes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from streamc.runtime.base.errors import RuntimeFault
from streamc.runtime.base.processes import is_running, started
from streamc.runtime.state.lease import Holder, Lease, lease_file, read_holder, running
from streamc.runtime.storage.local_files import LocalFiles
from streamc.runtime.storage.notes import seal

FILES = LocalFiles()
HOLD = """
import sys, time
from streamc.runtime.state.lease import Lease
from streamc.runtime.storage.local_files import LocalFiles
lease = Lease(LocalFiles(), sys.argv[1], "it", local=True, seconds=float(sys.argv[2]))
print("held", flush=True)
while lease.lost is None:
    time.sleep(0.05)
try:
    lease.check()
except Exception as fault:
    print(fault.render(), flush=True)
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds a lease of 1.5 seconds on the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path), "1.5"], stdout=subprocess.PIPE, text=True
    )
    with ExitStack() as stack:
        stack.callback(process.wait)
        stack.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def take(folder: Path, **options: Any) -> Lease:
    return Lease(FILES, str(folder), str(folder), local=True, **options)


def refused(folder: Path, **options: Any) -> str:
    with pytest.raises(RuntimeFault) as caught:
        take(folder, **options)
    assert caught.value.code.number == "SR0401"
    return caught.value.message


def write_lease(folder: Path, holder: Holder, age: float = 0.0) -> Path:
    """Writes a lease by hand, as another machine would have done some seconds ago."""
    path = Path(lease_file(str(folder)))
    path.write_text(seal(asdict(holder)), encoding="utf-8")
    os.utime(path, (time.time() - age,) * 2)
    return path


def elsewhere() -> Holder:
    return replace(Holder.here(30.0), host="far", place="another", pid=4711)


def test_a_second_process_is_refused_with_the_first(
    held: subprocess.Popen[str], tmp_path: Path
) -> None:
    message = refused(tmp_path)
    assert f"process {held.pid} on {os.uname().nodename} runs on the state {tmp_path}" in message
    assert "its lease holds for another " in message


def test_a_killed_process_leaves_the_folder_at_once(
    held: subprocess.Popen[str], tmp_path: Path
) -> None:
    held.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while is_running(held.pid, started(held.pid)) and time.monotonic() < deadline:
        time.sleep(0.01)
    # Not waited for: the process still has its number.
    begun = time.monotonic()
    lease = take(tmp_path)
    assert time.monotonic() - begun < 2.5
    lease.release()
    assert not Path(lease_file(str(tmp_path))).exists()


@pytest.fixture
def settles_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other process writes a lease here, so waits can be short."""
    monkeypatch.setattr("streamc.runtime.state.lease._SETTLE", 0.1)


def test_another_host_holds_until_its_time_is_over(tmp_path: Path, settles_soon: None) -> None:
    write_lease(tmp_path, elsewhere(), age=10)
    message = refused(tmp_path)
    assert "process 4711 on far runs" in message
    assert "holds for another 20 s" in message or "holds for another 19 s" in message
    write_lease(tmp_path, elsewhere(), age=31)
    lease = take(tmp_path)
    assert lease.holder.pid == os.getpid()
    lease.release()


def test_a_process_is_known_by_its_start(tmp_path: Path) -> None:
    own = Holder.here(30.0)
    write_lease(tmp_path, own)
    assert running(FILES, str(tmp_path), time.time()) == own
    write_lease(tmp_path, replace(own, processes={str(own.pid): "1"}))
    assert running(FILES, str(tmp_path), time.time()) is None
    take(tmp_path).release()


@pytest.mark.slow
def test_the_jvm_of_a_killed_process_is_waited_for(tmp_path: Path) -> None:
    jvm = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1.5)"])
    own = Holder.here(30.0, [jvm.pid])
    write_lease(tmp_path, replace(own, processes={**own.processes, str(own.pid): "1"}))
    begun = time.monotonic()
    take(tmp_path).release()
    assert 1.0 < time.monotonic() - begun < 10
    jvm.wait()


def test_a_jvm_that_outlives_the_lease_is_not_written_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Python was killed, and it was suspended: it would continue when resumed."""
    monkeypatch.setattr("streamc.runtime.state.lease._PATIENCE", 0.3)
    jvm = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    own = Holder.here(30.0, [jvm.pid])
    write_lease(tmp_path, replace(own, processes={**own.processes, str(own.pid): "1"}), age=40)
    assert f"but not process {jvm.pid}, the Spark" in refused(tmp_path)
    jvm.kill()
    jvm.wait()
    take(tmp_path).release()


def test_a_damaged_lease_holds_for_as_long_as_any(tmp_path: Path) -> None:
    path = write_lease(tmp_path, Holder.here(30.0))
    path.write_text(path.read_text(encoding="utf-8").replace("seconds", "Seconds"), "utf-8")
    assert "another process runs" in refused(tmp_path)
    with pytest.raises(RuntimeFault) as caught:
        read_holder(FILES, str(tmp_path))
    assert caught.value.code.number == "SR0403"
    os.utime(path, (time.time() - 31,) * 2)
    take(tmp_path).release()


def test_a_note_that_is_no_lease(tmp_path: Path) -> None:
    Path(lease_file(str(tmp_path))).write_text(seal({"pid": 1}), encoding="utf-8")
    with pytest.raises(RuntimeFault) as caught:
        read_holder(FILES, str(tmp_path))
    assert caught.value.code.number == "SR0403"


@pytest.mark.slow
def test_a_lease_is_renewed(tmp_path: Path) -> None:
    lease = take(tmp_path, seconds=1.0)
    first = Path(lease_file(str(tmp_path))).stat().st_mtime_ns
    time.sleep(2.0)
    assert Path(lease_file(str(tmp_path))).stat().st_mtime_ns > first
    lease.check()
    assert running(FILES, str(tmp_path), time.time()) is not None
    lease.release()


@pytest.mark.slow
def test_a_suspended_process_ends_when_another_has_the_folder(
    held: subprocess.Popen[str], tmp_path: Path
) -> None:
    held.send_signal(signal.SIGSTOP)
    write_lease(tmp_path, elsewhere())
    time.sleep(1.7)
    held.send_signal(signal.SIGCONT)
    assert held.stdout is not None
    shown = held.stdout.read()
    assert shown.startswith("error[SR0406] lease-lost: ")
    assert "process 4711 on far has it now" in shown
    left = json.loads(Path(lease_file(str(tmp_path))).read_text("utf-8").rpartition("{")[0])
    assert left["host"] == "far"


@pytest.mark.slow
def test_a_suspended_process_continues_when_nobody_took_over(
    held: subprocess.Popen[str], tmp_path: Path
) -> None:
    held.send_signal(signal.SIGSTOP)
    time.sleep(1.7)
    assert "runs on the state" in refused(tmp_path), "the lock holds besides"
    held.send_signal(signal.SIGCONT)
    time.sleep(1.2)
    assert held.poll() is None
    holder = running(FILES, str(tmp_path), time.time())
    assert holder is not None
    assert holder.pid == held.pid


class Broken(LocalFiles):
    """A file system that no longer answers."""

    broken = False

    def replace(self, path: str, text: str) -> None:
        if self.broken:
            raise OSError("no space left")
        super().replace(path, text)


@pytest.mark.slow
def test_a_lease_that_cannot_be_renewed_is_lost(tmp_path: Path) -> None:
    files = Broken()
    lease = Lease(files, str(tmp_path), "it", local=True, seconds=0.8)
    files.broken = True
    time.sleep(0.6)
    assert lease.lost is None, "a failure is tried again"
    time.sleep(1.2)
    with pytest.raises(RuntimeFault, match="could not be renewed for 1 s: no space left"):
        lease.check()
    lease.release()


def test_two_that_take_one_lease(tmp_path: Path, unlocked: None) -> None:
    """Without a lock: the last writer has it, and the other notices."""

    class Raced(LocalFiles):
        def replace(self, path: str, text: str) -> None:
            super().replace(path, text)
            if path == lease_file(str(tmp_path)):
                write_lease(tmp_path, elsewhere())

    with pytest.raises(RuntimeFault, match="process 4711 on far runs"):
        Lease(Raced(), str(tmp_path), "it", local=True)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeFault) as caught:
        take(tmp_path / "file" / "state")
    assert caught.value.code.number == "SR0403"


# Without locks between those who hold a lease.


@pytest.fixture
def unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without locks, and waits that a test can afford."""

    def flock(*_: Any) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr("streamc.runtime.state.lease.fcntl.flock", flock)
    monkeypatch.setattr("streamc.runtime.state.lease._SLOW", 0.3)
    monkeypatch.setattr("streamc.runtime.state.lease._SETTLE", 0.6)


class Slow(LocalFiles):
    """A file system on which one process is suspended between reading a lease and writing it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def replace(self, path: str, text: str) -> None:
        if path.endswith("lease.json"):
            time.sleep(self.seconds)
        super().replace(path, text)


@pytest.mark.slow
@pytest.mark.parametrize("delays", [(0.0, 0.0), (0.0, 0.1), (0.2, 0.0), (0.0, 0.8), (0.5, 0.1)])
def test_of_two_that_start_at_once_one_has_the_lease(
    tmp_path: Path, unlocked: None, delays: tuple[float, float]
) -> None:
    held: list[Lease] = []
    faults: list[RuntimeFault] = []

    def start(delay: float) -> None:
        try:
            held.append(Lease(Slow(delay), str(tmp_path), "it", local=True))
        except RuntimeFault as fault:
            faults.append(fault)

    threads = [threading.Thread(target=start, args=(delay,)) for delay in delays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(held) <= 1
    assert len(held) + len(faults) == 2
    for lease in held:
        lease.release()
    take(tmp_path).release()


@pytest.mark.slow
def test_who_renews_too_late_has_no_lease_beside_another(tmp_path: Path, unlocked: None) -> None:
    """It was suspended between reading its lease and writing it, and another took it over."""
    files = Slow(0.0)
    first = Lease(files, str(tmp_path), "it", local=True, seconds=1.2)
    files.seconds = 2.5
    time.sleep(0.6)  # By now it renews, and is suspended.
    write_lease(tmp_path, elsewhere())
    until = time.monotonic() + 10
    while first.lost is None and time.monotonic() < until:
        time.sleep(0.1)
    with pytest.raises(RuntimeFault):
        first.check()
    first.release()


def test_a_network_file_system_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its locks may be those of this machine alone."""
    monkeypatch.setattr("streamc.runtime.state.lease.is_own_disk", lambda folder: False)
    monkeypatch.setattr("streamc.runtime.state.lease._SETTLE", 0.7)
    begun = time.monotonic()
    take(tmp_path).release()
    assert time.monotonic() - begun >= 0.7


@pytest.mark.slow
def test_a_suspended_process_is_still_there(held: subprocess.Popen[str], tmp_path: Path) -> None:
    held.send_signal(signal.SIGSTOP)
    time.sleep(1.8)
    holder = running(FILES, str(tmp_path), time.time())
    assert holder is not None and holder.pid == held.pid
    held.send_signal(signal.SIGCONT)


def test_a_lease_that_was_copied_with_its_state(
    held: subprocess.Popen[str], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "lease.json").write_bytes((tmp_path / "lease.json").read_bytes())
    assert running(FILES, str(tmp_path), time.time()) is not None
    assert running(FILES, str(copy), time.time()) is None
    take(copy).release()


@pytest.mark.parametrize(
    "change",
    [
        {"pid": "x"},
        {"pid": -1},
        {"seconds": 1e300},
        {"seconds": 0},
        {"processes": []},
        {"processes": {"x": None}},
        {"processes": {"1": 7}},
        {"owner": None},
        {"inode": "x"},
    ],
)
def test_leases_that_are_none(tmp_path: Path, change: dict[str, Any]) -> None:
    document = {**asdict(Holder.here(30.0)), **change}
    Path(lease_file(str(tmp_path))).write_text(seal(document), encoding="utf-8")
    with pytest.raises(RuntimeFault) as caught:
        read_holder(FILES, str(tmp_path))
    assert caught.value.code.number == "SR0403"
