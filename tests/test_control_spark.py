"""A running job, inspected and stopped by other processes; and what becomes of its state."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from json_outputs import output
from streamc.runtime.state.lease import lease_file
from streamc.runtime.storage.notes import seal, unseal

pytestmark = pytest.mark.spark
SCRIPT = Path(__file__).parent / "runtime_fixtures" / "spending.py"
PATIENCE = 240
OUT = {"payments": 2, "per_minute": 1}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "payments").mkdir()
    pay(tmp_path, "1", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z")
    return tmp_path


def pay(root: Path, file: str, *instants: str) -> None:
    rows = [
        {"payment_id": f"{file}-{number}", "card_id": "c", "amount": 1, "paid_at": instant}
        for number, instant in enumerate(instants)
    ]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (root / f"payments/.{file}").write_text(text, encoding="utf-8")
    (root / f"payments/.{file}").rename(root / f"payments/{file}.json")


@contextmanager
def job(root: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), f"--var=root={root}", f"--state={root}/state", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def streamc(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "streamc", *arguments, "--state", f"{root}/state"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def wait_for(what: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def has_read(root: Path) -> bool:
    """Whether both queries have shown that the two rows are through: one has its window out."""
    found = root / "state/control/status.json"
    if not found.exists():
        return False
    queries = unseal(found.read_text(encoding="utf-8"))["queries"]
    return {query["query"]: query["rows_out"] for query in queries} == OUT


def rows(root: Path, sink: str) -> list[Any]:
    import pyarrow.dataset as ds

    format = "json" if sink == "all_payments" else "parquet"
    files = sorted(str(path) for path in (root / sink).glob(f"*.{format}"))
    return ds.dataset(files, format=format).to_table().to_pylist() if files else []


def test_a_job_is_seen_and_stopped(root: Path) -> None:
    with job(root) as process:
        wait_for(lambda: has_read(root))
        seen = streamc(root, "status", "--format", "json")
        assert seen.returncode == 0, seen.stderr
        found = output(seen.stdout)
        assert (found["running"], found["pid"], found["phase"]) == (True, process.pid, "running")
        assert {query["query"] for query in found["queries"]} == {"payments", "per_minute"}

        with job(root) as second:
            refused, _ = second.communicate(timeout=PATIENCE)
        assert second.returncode == 2
        assert f"SR0401] state-in-use: process {process.pid} on {os.uname().nodename}" in refused

        stopped = streamc(root, "stop")
        assert stopped.returncode == 0, stopped.stderr
        shown, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, shown
    assert shown.splitlines()[-1] == "spending: stopped"
    assert "stopped with barrier " in stopped.stdout
    assert not Path(lease_file(f"{root}/state")).exists()
    assert (len(rows(root, "all_payments")), len(rows(root, "spend"))) == (2, 1)

    listed = streamc(root, "barriers", "list", "--format", "json")
    barriers = output(listed.stdout)["barriers"]
    assert barriers[-1]["restorable"], barriers[-1]
    last = streamc(root, "barriers", "show", str(barriers[-1]["barrier"]), "--format", "json")
    manifest = output(last.stdout)
    assert manifest["restorable"]
    assert manifest["queries"]["per_minute"]["operators"][0]["rows"] == 1
    assert streamc(root, "status").returncode == 1


@pytest.mark.long
def test_a_drained_job_lets_all_out_and_is_over(root: Path) -> None:
    with job(root) as process:
        wait_for(lambda: has_read(root))
        stopped = streamc(root, "stop", "--drain")
        shown, _ = process.communicate(timeout=PATIENCE)
    assert (stopped.returncode, process.returncode) == (0, 0), (stopped.stderr, shown)
    assert "draining: emitting all windows" in stopped.stdout
    assert len(rows(root, "spend")) == 2
    pay(root, "2", "2026-01-01T00:30:00Z")
    # As if killed before its last barrier: the next run takes that barrier, and reads nothing.
    max((root / "state/generations/0001/barriers").glob("*.json")).unlink()
    with job(root) as process:
        shown, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, shown
    assert "stopped while it drained; this one finishes the drain" in shown
    assert shown.splitlines()[-1] == "spending: stopped"
    assert len(rows(root, "all_payments")) == 2
    with job(root) as process:
        shown, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "error[SR0414] state-drained: " in shown


@pytest.mark.long
def test_a_killed_job_is_followed_at_once(root: Path) -> None:
    with job(root) as process:
        wait_for(lambda: has_read(root))
        process.send_signal(signal.SIGKILL)
        with job(root, "--until-caught-up") as second:
            shown, _ = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, shown
    assert (len(rows(root, "all_payments")), len(rows(root, "spend"))) == (2, 1)


@pytest.mark.long
def test_a_job_that_lost_its_lease_writes_no_more(root: Path) -> None:
    with job(root) as process:
        wait_for(lambda: has_read(root))
        process.send_signal(signal.SIGSTOP)
        path = Path(lease_file(f"{root}/state"))
        holder = unseal(path.read_text(encoding="utf-8"))
        other = {**holder, "owner": "other", "host": "far", "pid": 4711}
        path.write_text(seal(other), encoding="utf-8")
        pay(root, "2", "2026-01-01T00:30:00Z")
        time.sleep(16)
        process.send_signal(signal.SIGCONT)
        shown, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, shown
    assert "error[SR0406] lease-lost: " in shown
    assert "process 4711 on far has it now" in shown
    assert len(rows(root, "all_payments")) == 2
    assert unseal(path.read_text(encoding="utf-8"))["owner"] == "other"
