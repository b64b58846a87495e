"""Every kind of kill, each from the start of a life to its end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import lives
from .lives import Life
from .shop import QUERIES, Shop

AHEAD = 14
"""How many files the input is ahead of the slowest query."""

START = 120.0
"""How long a life may take to its first batch before that is a fault."""

LEASE = 30.0
"""How long a state belongs to a process that shows no sign of life."""

STEPS = {
    "staging": ("before", "after"),
    "record": ("before", "after"),
    "moves": ("before", "within", "after"),
    "manifest": ("before", "after"),
    "ledger": ("before", "after"),
}
FOLDERS = {"epoch": "epochs", "offsets": "queries/*/offsets", "commit": "queries/*/commits"}
"""What is watched: the kill comes as soon as a file appears there, often before it is renamed."""

WEIGHTS = {
    "random": 20,
    "jvm": 12,
    "terminate": 6,
    "pause": 2,
    **dict.fromkeys(STEPS, 10),
    **dict.fromkeys(FOLDERS, 8),
}
"""The kinds of kill and how often each comes."""


@dataclass(frozen=True, slots=True)
class Killed:
    """One life: how it was ended, and what was observed.

    `recovered` is the time from its start to its first committed batch. `orphan` is how long the
    JVM outlived a killed Python.
    """

    kind: str
    recovered: float | None = None
    orphan: float | None = None
    fault: str | None = None


def kill(shop: Shop, kind: str, rng: random.Random) -> Killed:
    """Starts a life and ends it; the next may begin at once."""
    _feed(shop)
    if kind in STEPS:
        return _at_step(shop, kind, rng)
    if kind in FOLDERS:
        return _at_file(shop, kind, rng)
    return _KINDS[kind](shop, kind, rng)


def _at_step(shop: Shop, kind: str, rng: random.Random) -> Killed:
    """The process kills itself within the runtime's step."""
    number = rng.randrange(1, 2 if kind == "manifest" else 5)
    aim = f"{kind}:{rng.choice(STEPS[kind])}:{number}:{rng.choice(('driver', 'both'))}"
    life = lives.start(shop, aim=aim)
    recovered = _first_commit(shop, life)
    end = time.monotonic() + 60
    while life.alive() and time.monotonic() < end:
        _feed(shop)
        life.wait(0.3)
        # The step was not reached: kill it like any other.
        return _end(life, "random", life.kill_driver, recovered)
    return _ended(life, kind, recovered)


def _at_file(shop: Shop, kind: str, rng: random.Random) -> Killed:
    """A kill as soon as a file is written that Spark or the gate depends on."""
    life = lives.start(shop)
    recovered = _first_commit(shop, life)
    _linger(shop, life, rng.uniform(0, 2))
    seen = _names(shop.generation, FOLDERS[kind])
    lives.watch(life, 10, lambda: not _names(shop.generation, FOLDERS[kind]) <= seen)
    return _end(life, kind, rng.choice((life.kill_driver, life.kill_jvm)), recovered)


def _random(shop: Shop, kind: str, rng: random.Random) -> Killed:
    life = lives.start(shop)
    if rng.random() < 0.2:  # before there is any batch
        time.sleep(rng.uniform(0, 10))
        return _end(life, kind, life.kill_driver, None)
    recovered = _first_commit(shop, life)
    _linger(shop, life, rng.uniform(0, 6))
    return _end(life, kind, rng.choice((life.kill_driver, life.kill_all)), recovered)


def _jvm(shop: Shop, kind: str, rng: random.Random) -> Killed:
    life = lives.start(shop)
    recovered = _first_commit(shop, life)
    _linger(shop, life, rng.uniform(0, 6))
    return _end(life, kind, life.kill_jvm, recovered)


def _terminate(shop: Shop, kind: str, rng: random.Random) -> Killed:
    life = lives.start(shop)
    recovered = _first_commit(shop, life)
    _linger(shop, life, rng.uniform(0, 6))
    life.process.terminate()
    code = life.wait(60)
    life.kill_all()
    fault = None if code == 143 else f"SIGTERM gave {code}:\n{life.said()}"
    return Killed(kind, recovered, None, fault)


def _pause(shop: Shop, kind: str, rng: random.Random) -> Killed:
    """Suspends a life for longer than its lease; it must not write next to its successor."""
    life = lives.start(shop)
    recovered = _first_commit(shop, life)
    _linger(shop, life, rng.uniform(0, 3))
    life.pause()
    time.sleep(LEASE + 2)
    successor = lives.start(shop)
    lives.await_commit(shop, successor, 20)
    life.resume()
    time.sleep(5)
    successor.kill_all()
    life.kill_all()
    return Killed(kind, recovered)


_KINDS = {"random": _random, "jvm": _jvm, "terminate": _terminate, "pause": _pause}


def _first_commit(shop: Shop, life: Life) -> float | None:
    return time.monotonic() - life.started if lives.await_commit(shop, life, START) else None


def _linger(shop: Shop, life: Life, seconds: float) -> None:
    """Resumes the life, and gives it work."""
    end = time.monotonic() + seconds
    while life.alive() and time.monotonic() < end:
        _feed(shop)
        life.wait(0.2)


def _feed(shop: Shop) -> None:
    """Keeps the input ahead of the slowest query."""
    shop.writer.up_to(shop.files_per_epoch * min(map(shop.commits, QUERIES)) + AHEAD)


def _end(life: Life, kind: str, how: Callable[[], None], recovered: float | None) -> Killed:
    """Kills, if anything is left to kill, and waits for Python's end."""
    if not life.alive():
        return _ended(life, kind, recovered)
    how()
    life.wait(60)
    return Killed(kind, recovered, life.wait_for_jvm(60))


def _ended(life: Life, kind: str, recovered: float | None) -> Killed:
    """A life that has ended: by the kill at its step, or by a fault."""
    code = life.process.returncode
    if code == -9:
        return Killed(kind, recovered, life.wait_for_jvm(60))
    return Killed(kind, recovered, None, f"ended by itself with {code}:\n{life.said()}")


def _names(generation: Path, folder: str) -> set[str]:
    return {str(path) for path in generation.glob(f"{folder}/*")}
