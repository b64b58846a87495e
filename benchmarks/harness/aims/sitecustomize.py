"""Kills this process at a chosen step of the runtime; Python loads it at start, if it is asked to.

`SHOP_AIM` is `STEP:WHEN:NUMBER:WHAT`: at the NUMBERth step of the kind STEP, WHEN is `before` its
work, `within` it (of moves: after the first file) or `after` it, and WHAT is `driver`, which leaves
the JVM to itself, or `both`, the JVM first.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any

STEPS = {
    "staging": ("write",),
    "record": ("create", "replace"),
    "moves": ("move",),
    "manifest": ("create", "replace"),
    "ledger": ("create", "replace"),
}
PARTS = {"record": "/commits/", "manifest": "/barriers/", "ledger": "/ledger/"}
Step = Callable[..., Any]


def die(what: str) -> None:
    """Ends this process, and with `both` its JVM before, as if they had never been."""
    if what == "both":
        subprocess.run(["pkill", "-KILL", "-P", str(os.getpid()), "java"], check=False)
    os.kill(os.getpid(), signal.SIGKILL)


def armed(step: str, when: str, number: int, what: str, real: Step) -> Step:
    """A method of Storage that kills at its nth call of this kind."""
    calls = 0

    def method(self: Any, first: Any, *rest: Any) -> Any:
        nonlocal calls
        if PARTS.get(step, "") not in str(first):
            return real(self, first, *rest)
        calls += 1
        if calls != number:
            return real(self, first, *rest)
        if when == "before":
            die(what)
        if when == "within":
            real(self, first[:1], *rest)
            die(what)
        result = real(self, first, *rest)
        die(what)
        return result

    return method


def arm(aim: str) -> None:
    """Puts the kill in its place."""
    from streamc.runtime.storage.file_system import Storage

    step, when, number, what = aim.split(":")
    for name in STEPS[step]:
        setattr(Storage, name, armed(step, when, int(number), what, getattr(Storage, name)))


if "SHOP_AIM" in os.environ:
    arm(os.environ["SHOP_AIM"])
