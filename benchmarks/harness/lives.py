"""Processes that run the shop: started, watched, and ended in any way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .shop import QUERIES, Shop

AIMS = Path(__file__).parent / "aims"
LOOK = 0.01
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A JVM that lives for seconds never recovers the cost of its second compiler."""


@dataclass
class Life:
    """One process that runs the shop, its JVM, and its start time."""

    process: subprocess.Popen[bytes]
    started: float
    log: Path

    def alive(self) -> bool:
        return self.process.poll() is None

    def jvms(self) -> list[int]:
        """The Java processes of this life's session, whoever their parent is by now."""
        return [pid for pid in _session(self.process.pid) if _command(pid) == "java"]

    def kill_driver(self) -> None:
        """Kills Python alone, and leaves its JVM running."""
        self.process.kill()

    def kill_jvm(self) -> None:
        for pid in self.jvms():
            _send(pid, signal.SIGKILL)

    def kill_all(self) -> None:
        """Kills whatever is left of this life, at once."""
        for pid in _session(self.process.pid):
            _send(pid, signal.SIGKILL)
        self.process.wait()

    def pause(self) -> None:
        for pid in _session(self.process.pid):
            _send(pid, signal.SIGSTOP)

    def resume(self) -> None:
        for pid in _session(self.process.pid):
            _send(pid, signal.SIGCONT)

    def wait(self, seconds: float) -> int | None:
        """The exit code, None if it still runs after the timeout."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def wait_for_jvm(self, seconds: float) -> float | None:
        """How much longer the JVM lived, None if it still does after the timeout."""
        begin = time.monotonic()
        while self.jvms():
            if time.monotonic() - begin > seconds:
                return None
            time.sleep(LOOK)
        return time.monotonic() - begin

    def said(self) -> str:
        """The end of the process's output."""
        return self.log.read_text("utf-8", errors="replace")[-4000:]


def start(
    shop: Shop,
    *more: str,
    aim: str | None = None,
    submit: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Life:
    """Starts the shop in a new session.

    `aim` is a step, as named by `aims`, at which the process kills itself. `submit` is the command
    of a `spark-submit` that runs the script.
    """
    java = f"{QUICK} -Xshare:auto -XX:SharedArchiveFile={_classes(shop)}"
    own = {**os.environ, **shop.environment, "JDK_JAVA_OPTIONS": java, **(environment or {})}
    if aim is not None:
        path = [str(AIMS), *filter(None, [own.get("PYTHONPATH")])]
        own |= {"SHOP_AIM": aim, "PYTHONPATH": os.pathsep.join(path)}
    log = shop.folder / "life.log"
    command = [*(submit or [sys.executable]), str(shop.script), *shop.arguments, *more]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=shop.folder, stdout=out, stderr=out, env=own, start_new_session=True
        )
    return Life(process, time.monotonic(), log)


def archive_classes(shop: Shop) -> None:
    """Runs the shop once and archives the classes that its JVM has loaded: later ones start faster.

    Not if the environment has an archive for all JVMs that Spark starts.
    """
    if _classes(shop).exists() or "SharedArchiveFile" in os.environ.get("SPARK_SUBMIT_OPTS", ""):
        return
    java = f"{QUICK} -XX:ArchiveClassesAtExit={_classes(shop)}"
    life = start(shop, "--until-caught-up", environment={"JDK_JAVA_OPTIONS": java})
    life.wait(300)
    life.wait_for_jvm(120)
    life.kill_all()


def catch_up(shop: Shop, seconds: float = 1200) -> Life:
    """Runs the shop to the end of its input; raises RuntimeError when that fails."""
    life = start(shop, "--until-caught-up")
    code = life.wait(seconds)
    if code != 0:
        life.kill_all()
        raise RuntimeError(f"the run to the end gave {code}:\n{life.said()}")
    return life


def await_commit(shop: Shop, life: Life, seconds: float) -> bool:
    """Waits until any query has committed a batch in this life; False if it ends or takes long."""
    before = {query: shop.commits(query) for query in QUERIES}
    return watch(life, seconds, lambda: any(shop.commits(q) > n for q, n in before.items()))


def watch(life: Life, seconds: float, seen: Callable[[], bool]) -> bool:
    """Polls until something is seen; False if the life ends first or it takes too long."""
    end = time.monotonic() + seconds
    while life.alive() and time.monotonic() < end:
        if seen():
            return True
        time.sleep(LOOK)
    return False


def _classes(shop: Shop) -> Path:
    return shop.folder / "classes.jsa"


def _session(leader: int) -> list[int]:
    """The processes of a session, without zombies."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                stat = Path(entry.path, "stat").read_text("utf-8", errors="replace")
                state, _, _, session = stat.rpartition(")")[2].split()[:4]
                if int(session) == leader and state != "Z":
                    found.append(int(entry.name))
    return found


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text("utf-8").strip()
    return ""


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
