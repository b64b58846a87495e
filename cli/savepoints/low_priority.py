"""Work that yields to running jobs."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import FrameType

_NICE = 15
_AUTOGROUPS = Path("/proc/sys/kernel/sched_autogroup_enabled")
_AUTOGROUP = Path("/proc/self/autogroup")
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def yield_to_jobs() -> None:
    """Lowers the priority of this process below all others from here on.

    Linux may divide CPU time among sessions first and then within each, see sched(7): a nice value
    then has no effect on a job started from another terminal. In that case a child does the work,
    in a session of its own with the same nice value; this process forwards signals to it and ends
    as it does.
    """
    alone = threading.active_count() == 1
    if not (alone and _has_autogroups()):
        os.nice(_NICE)
        return
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    # A signal that comes before it can be forwarded waits until it can.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
    child = os.fork()
    if child:
        _end_as(child, mask)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
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


def _end_as(child: int, mask: Iterable[int]) -> None:
    """Wait for a child, and end with its code or by its signal.

    ``mask`` is what was blocked before the child was made.
    """

    def hand_on(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for number in _FORWARDED:
        signal.signal(number, hand_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
