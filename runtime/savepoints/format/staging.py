"""Where savepoints are built: hidden folders, each locked by the process that fills it.

The system frees the lock of a killed process. What it has left is removed by the next process that
creates or deletes a savepoint, while a folder being filled stays.
"""

from __future__ import annotations

import errno
import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ...base.private_files import make_folders
from ...storage.disk import LocalDisk
from .model import FOLDER, name_taken, savepoint_folder

_SUFFIX = ".tmp"


@contextmanager
def draft(disk: LocalDisk, state: str, name: str) -> Iterator[str]:
    """A new folder for a savepoint; it is removed unless it is published."""
    sweep(disk, state)
    folder = hidden_folder(state, name)
    lock = _locked(folder)
    try:
        yield folder
    except BaseException:
        disk.delete([folder])
        raise
    finally:
        os.close(lock)


def publish(disk: LocalDisk, folder: str, state: str, name: str) -> None:
    """Publishes a draft under a name; raises RuntimeFault when the name is now taken."""
    try:
        disk.rename(folder, savepoint_folder(state, name))
    except OSError as error:
        if isinstance(error, FileExistsError) or error.errno == errno.ENOTEMPTY:
            raise name_taken(name) from None
        raise


def sweep(disk: LocalDisk, state: str) -> None:
    """Removes what ended processes left half created, or half deleted."""
    for name in disk.list(f"{state}/{FOLDER}"):
        if name.startswith(".") and name.endswith(_SUFFIX):
            _take_away(disk, f"{state}/{FOLDER}/{name}")


def hidden_folder(state: str, name: str) -> str:
    """A folder with a unique name, which is not a savepoint.

    The Spark of a killed process may still write to its folder for a moment.
    """
    return f"{state}/{FOLDER}/.{name}.{uuid.uuid4()}{_SUFFIX}"


def _locked(folder: str) -> int:
    """Creates a folder and locks it; returns the handle that holds the lock."""
    while True:
        make_folders(folder)
        # Until it is locked it may be swept.
        with suppress(FileNotFoundError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # A file system without locks, where nothing is swept.
                fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_still(folder, handle):
                return handle
            os.close(handle)


def _take_away(disk: LocalDisk, folder: str) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_still(folder, handle):
            disk.delete([folder])
    except OSError:
        return
    finally:
        os.close(handle)


def _is_still(folder: str, handle: int) -> bool:
    """Whether a handle is of the folder that now has this name."""
    try:
        return os.path.samestat(os.stat(folder), os.fstat(handle))
    except FileNotFoundError:
        return False
