"""A disk that fills up while the shop runs on it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import lives
from .kills import Killed
from .lives import Life
from .series import Report
from .shop import Shop

SIZE = 48 * 2**20


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A file system of a few megabytes; None if this user may not mount one."""
    folder.mkdir(parents=True, exist_ok=True)
    options = ["-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def fill_and_free(
    shop: Shop, disk: Path, times: int, tell: Callable[[str], None], seconds: float = 25
) -> Report:
    """Fills the disk under a running job and frees it again; the job is restarted if it ends.

    It must end with a message of its own, or continue.
    """
    report = Report()
    for number in range(times):
        life = lives.start(shop)
        shop.writer.add(4)
        recovered = None
        if lives.await_commit(shop, life, 120):
            recovered = time.monotonic() - life.started
        filler = _fill(disk)
        shop.writer.add(4)
        life.wait(seconds)
        report.killed.append(_look(life, recovered))
        tell(f"{number + 1:4} disk       {_said(life)}")
        filler.unlink()
        life.process.terminate()
        life.wait(30)
        life.kill_all()
    shop.writer.close()
    lives.catch_up(shop)
    report.checks.append(shop.differences())
    return report


def _fill(disk: Path) -> Path:
    """A file that takes the free space of the disk."""
    path = disk / "filler"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return path


def _look(life: Life, recovered: float | None) -> Killed:
    """A job may continue, or end with a message, but not with a traceback."""
    said = life.said()
    if life.alive():
        return Killed("disk", recovered)
    code = life.process.returncode
    readable = code == 1 and "error[SR" in said and "Traceback" not in said
    fault = None if readable else f"ended with {code}:\n{said}"
    return Killed("disk", recovered, None, fault)


def _said(life: Life) -> str:
    if life.alive():
        return "the job continues"
    errors = [line for line in life.said().splitlines() if "error[" in line]
    return os.linesep.join(errors) or f"ended with {life.process.returncode}"
