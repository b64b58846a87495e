"""Work that yields to a running job: to the user it is the command itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BEGIN = (
    "import os, sys, time; from streamc.cli.savepoints.low_priority import yield_to_jobs; "
    "yield_to_jobs(); "
)
WAITS = """
try:
    print(os.getpid(), flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print('tidied up', flush=True)
    sys.exit(130)
"""


def begun(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_output_and_exit_code() -> None:
    process = begun("print(os.nice(0)); print('oh', file=sys.stderr); sys.exit(3)")
    assert process.communicate() == (f"{min(19, os.nice(0) + 15)}\n", "oh\n")
    assert process.returncode == 3


@pytest.mark.skipif(
    not Path("/proc/sys/kernel/sched_autogroup_enabled").exists(), reason="no sessions to yield to"
)
def test_other_sessions_go_before() -> None:
    process = begun("print(open('/proc/self/autogroup').read())")
    shared = Path("/proc/sys/kernel/sched_autogroup_enabled").read_text(encoding="ascii") == "1\n"
    assert ("nice 15" in process.communicate()[0]) == shared


def test_ctrl_c_comes_to_the_work() -> None:
    process = begun(WAITS)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.stdout.read() == "tidied up\n"
    assert process.wait() == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_continues_after_a_command_that_is_killed(number: signal.Signals) -> None:
    process = begun(WAITS)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    process.send_signal(number)
    assert process.wait() == -number
    # Its output ends when the last process that could write to it has ended.
    assert process.stdout.read() == ""
    deadline = time.monotonic() + 30
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{worker}").exists()
