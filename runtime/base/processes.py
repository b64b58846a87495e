"""Processes of this machine: whether one seen earlier is still running.

A PID alone is not enough, since it is reused. Together with the process's start time it identifies
one process, as long as the machine runs.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_GONE = ("Z", "X")
"""States of a process that has ended and has not been reaped."""


def place() -> str | None:
    """Identifies the scope of PIDs: one boot of this machine, one PID namespace.

    None where the system does not say; PIDs can then not be compared.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return _boot_time()


def started(pid: int) -> str | None:
    """When a process was started, in a form only for comparison; None if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return (
            None if Path("/proc/self/stat").exists() else _asked("ps", "-o", "lstart=", f"-p{pid}")
        )
    # The name of the program is in parentheses and may contain anything.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in _GONE else fields[19]


def is_running(pid: int, since: str | None) -> bool:
    """Whether the process with this PID and start is running."""
    return since is not None and started(pid) == since


def _boot_time() -> str | None:
    """The boot time on BSD and macOS."""
    return _asked("sysctl", "-n", "kern.boottime")


def _asked(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
