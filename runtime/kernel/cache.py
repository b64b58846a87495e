"""Where built kernels are kept: one process builds at a time, the most recently used stay.

Where the home cannot be written, as in many containers, they are kept in a temporary folder.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..base.errors import KERNEL_BUILD, RuntimeFault

KEPT = 5
"""How many built kernels stay, the most recently used: versions of streamc may alternate."""

_ABANDONED = 3600
"""Seconds after which an unchanged file under construction counts as abandoned."""


_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


def cache_folder() -> Path:
    """Where built kernels are kept, by the XDG convention; it may be read-only."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "streamc" / "kernel"


def cached(name: str) -> Path:
    """The path of a kernel: in the cache, unless a whole one is in the temporary folder alone."""
    path, fallback = cache_folder() / name, temporary_folder() / name
    if not is_whole(path) and _is_own(fallback.parent) and is_whole(fallback):
        return fallback
    return path


def temporary_folder() -> Path:
    """The folder for a user whose home cannot be written. Only that user may write to it."""
    return Path(tempfile.gettempdir()) / f"streamc-kernel-{os.getuid()}"


def is_whole(jar: Path) -> bool:
    """Whether a jar exists and is complete, rather than truncated by a full disk or a power cut."""
    return zipfile.is_zipfile(jar)


def mark_used(jar: Path) -> None:
    """Records the use of a jar; not in a read-only cache."""
    with suppress(OSError):
        os.utime(jar)


@contextmanager
def only_builder(tell: Callable[[str], None]) -> Iterator[Path]:
    """Waits until no other process builds, and makes others wait meanwhile; the folder to build in.

    It is the cache, or the temporary folder if the cache is read-only. Where files can't be locked
    nobody waits, and two may build the same: each writes a file of its own. Raises RuntimeFault
    when neither can be written.
    """
    folder = cache_folder()
    try:
        handle = _opened(folder)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise unwritable(folder, error) from None
        folder, handle = _opened_elsewhere(folder, error)
    try:
        _lock(handle, tell)
        yield folder
    finally:
        os.close(handle)


def _opened(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)


def _opened_elsewhere(refused: Path, why: OSError) -> tuple[Path, int]:
    """The temporary folder, which must be the user's own: a jar in it runs as this user."""
    folder = temporary_folder()
    try:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if not _is_own(folder):
            raise unwritable(refused, why)
        return folder, _opened(folder)
    except OSError as error:
        raise unwritable(folder, error) from None


def _is_own(folder: Path) -> bool:
    """Whether a folder is one, and nobody else may write to it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    shared = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not shared


def _lock(handle: int, tell: Callable[[str], None]) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        tell("another process is building the Spark kernel: waiting for it")
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        # Some network file systems have no locks.
        return


def remove_old(kept: Path) -> list[Path]:
    """Removes kernels that have not been used for long, and remains of interrupted builds.

    `kept` always stays. Returns the removed kernels.
    """
    gone = []
    with suppress(OSError):
        jars = [jar for jar in kept.parent.glob("*.jar") if jar != kept]
        built = sorted(jars, key=lambda jar: jar.stat().st_mtime, reverse=True)
        for partial in (jar for jar in built if jar.name.startswith("build-")):
            if time.time() - partial.stat().st_mtime > _ABANDONED:
                partial.unlink(missing_ok=True)
        for jar in [jar for jar in built if not jar.name.startswith("build-")][KEPT - 1 :]:
            jar.unlink(missing_ok=True)
            gone.append(jar)
    return gone


def unwritable(folder: Path, error: OSError) -> RuntimeFault:
    """The fault for an unwritable cache."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return no_space(folder)
    return RuntimeFault(
        KERNEL_BUILD,
        f"cannot write to {folder}: {error.strerror}",
        "set XDG_CACHE_HOME to a folder that can be written",
    )


def no_space(folder: Path) -> RuntimeFault:
    """The fault for a full disk of the cache."""
    return RuntimeFault(
        KERNEL_BUILD,
        f"there is no space left for the Spark kernel in {folder}",
        "free some megabytes, or set XDG_CACHE_HOME to a folder on another disk",
    )
