"""Work that a running job goes before."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import FrameType

_NICE = 15
_AUTOGROUPS = Path("/proc/sys/kernel/sched_autogroup_enabled")
_AUTOGROUP = Path("/proc/self/autogroup")
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def yield_to_jobs() -> None:
    """Has all other processes go before what this one does from here on.

    Linux may share the processors out to sessions first and then within each, see sched(7): beside
    a job that another terminal has started, being nice to one's own session says nothing. What
    follows is done by a child then, in a session of its own that is as nice; this process hands
    signals on to it and ends as it does.
    """
    alone = threading.active_count() == 1
    if not (alone and _has_autogroups()):
        os.nice(_NICE)
        return
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    child = os.fork()
    if child:
        _end_as(child)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    os.setsid()
    os.nice(_NICE)
    with suppress(OSError):
        _AUTOGROUP.write_text(str(_NICE), encoding="ascii")


def _has_autogroups() -> bool:
    try:
        return _AUTOGROUPS.read_text(encoding="ascii").strip() == "1" and _AUTOGROUP.exists()
    except OSError:
        return False


def _end_as(child: int) -> None:
    """Waits for a child, and ends with its code or by its signal."""

    def hand_on(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, hand_on)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
