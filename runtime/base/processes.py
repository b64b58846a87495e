"""Processes of this machine: whether one that was seen once is still there.

A number alone says little, since it is given again. With the instant at which its process was
started it names one process, as long as the machine runs.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_GONE = ("Z", "X")
"""States of a process that has ended and that nobody has asked for yet."""


def place() -> str | None:
    """What this machine's processes have in common: one start of it, one space of numbers.

    None where the system does not tell; numbers of processes then mean nothing to each other.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return _boot_time()


def started(pid: int) -> str | None:
    """When a process was started, in a form that only serves to be compared; None when gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return (
            None if Path("/proc/self/stat").exists() else _asked("ps", "-o", "lstart=", f"-p{pid}")
        )
    # The name of the program stands in parentheses and may hold anything.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in _GONE else fields[19]


def is_running(pid: int, since: str | None) -> bool:
    """Whether the process with this number and start is there."""
    return since is not None and started(pid) == since


def _boot_time() -> str | None:
    """The start of the machine as BSD and macOS tell it."""
    return _asked("sysctl", "-n", "kern.boottime")


def _asked(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
