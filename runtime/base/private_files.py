"""Files that hold rows or state: only their owner may read them.

A state folder has mode 0700, or is created beforehand with permissions for a group (`install -d -m
2770`): whatever is created in a folder gets the permissions of that folder, and none for others.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

_OWNER = 0o700
_OTHERS = 0o007
_GROUP = 0o070


def secure(folder: str | Path) -> None:
    """Creates a folder that only its owner can read, or removes the permissions of others.

    One that was created for a group, and for nobody else, stays as it is.
    """
    os.makedirs(os.path.dirname(os.path.abspath(folder)), exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(folder, _OWNER)
        return
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    if mode & _OTHERS:
        # Only its owner can change that.
        with suppress(OSError):
            os.chmod(folder, mode & ~(_GROUP | _OTHERS))


def make_folders(folder: str | Path) -> None:
    """Creates a missing folder and its parents, each with the permissions of its parent."""
    path = Path(folder)
    if path.is_dir():
        return
    make_folders(path.parent)
    with suppress(FileExistsError):
        path.mkdir(_OWNER)
        rights = stat.S_IMODE(path.parent.stat().st_mode) & _GROUP
        if rights:
            path.chmod(stat.S_IMODE(path.stat().st_mode) | rights)


def open_new(path: str | Path, *, exclusive: bool = False) -> IO[bytes]:
    """Opens an empty file for writing, with the permissions of its folder."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_EXCL if exclusive else os.O_TRUNC)
    return os.fdopen(_opened(path, flags), "wb")


def open_to_append(path: str | Path) -> IO[str]:
    """Opens a text file for appending, with the permissions of its folder."""
    return os.fdopen(_opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "a", encoding="utf-8")


def _opened(path: str | Path, flags: int) -> int:
    handle = os.open(path, flags, 0o600)
    rights = stat.S_IMODE(os.stat(os.path.dirname(os.path.abspath(path))).st_mode) & 0o060
    with suppress(OSError):
        os.fchmod(handle, 0o600 | rights)
    return handle
