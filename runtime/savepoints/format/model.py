"""Folders of savepoints: their names, and their manifests, see `contracts.savepoint`."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ....contracts.savepoint import Savepoint
from ...base.errors import SAVEPOINT_UNUSABLE, RuntimeFault
from ...storage.file_system import Files
from ...storage.notes import unseal

FOLDER = "savepoints"
MANIFEST = "manifest.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def load_savepoint(files: Files, folder: str) -> Savepoint:
    """The savepoint in a folder; raises RuntimeFault when there is none or it is unreadable."""
    shown = folder.removeprefix("file:")
    try:
        text = files.read(f"{folder}/{MANIFEST}")
    except OSError as error:
        raise unusable(f"{shown}/{MANIFEST} cannot be read: {error.strerror}") from None
    if text is None:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"there is no savepoint in {shown}",
            "`streamc savepoint list` shows those of a state",
        )
    try:
        return read_manifest(text)
    except ValueError as error:
        raise unusable(f"{shown}/{MANIFEST} cannot be used: {error}") from None


def read_manifest(text: str) -> Savepoint:
    """The savepoint of a manifest; raises ValueError, which says why, when it is none."""
    document = unseal(text)
    try:
        return Savepoint.from_json(document)
    except ValueError as error:
        raise ValueError(f"it is not a manifest: {error}") from None


def find_savepoint(files: Files, state: str, named: str) -> tuple[Savepoint, str]:
    """A savepoint of a state by its name, or one in a folder by its path, and its folder.

    Raises RuntimeFault when there is none or it is unreadable, and when the manifest is that of
    another one.
    """
    folder = savepoint_folder(state, named)
    found = load_savepoint(files, folder)
    if "/" not in named and found.name != named:
        shown = folder.removeprefix("file:")
        raise unusable(f"{shown}/{MANIFEST} is that of another savepoint, `{found.name}`")
    return found, folder


def unusable(what: str) -> RuntimeFault:
    """The fault for a savepoint that is not as it was written."""
    help = "take another savepoint, or bring this one back from a copy"
    return RuntimeFault(SAVEPOINT_UNUSABLE, what, help)


def savepoint_folder(state: str, named: str) -> str:
    """The folder of a savepoint: one of a state by its name, or a folder by its path."""
    return named.rstrip("/") if "/" in named else f"{state}/{FOLDER}/{named}"


def savepoint_names(files: Files, state: str) -> list[str]:
    """The names of the savepoints of a state folder, without unfinished ones."""
    names = [name for name in files.list(f"{state}/{FOLDER}") if not name.startswith(".")]
    return [n for n in names if MANIFEST in files.list(f"{state}/{FOLDER}/{n}")]


def folders_of_savepoints(files: Files, state: str) -> list[str]:
    """The names of all savepoints of a state folder, including those without a manifest."""
    names = [name for name in files.list(f"{state}/{FOLDER}") if not name.startswith(".")]
    held = {name: set(files.list(f"{state}/{FOLDER}/{name}")) for name in names}
    # Earlier versions left the log of their Spark next to the savepoints.
    return [name for name in names if held[name] - {"spark.log"}]


def name_taken(name: str) -> RuntimeFault:
    """The fault for a savepoint name that is taken."""
    return RuntimeFault(
        SAVEPOINT_UNUSABLE,
        f"savepoint `{name}` already exists",
        "give another name, or delete it: `streamc savepoint delete`",
    )


def check_name(name: str) -> str:
    """A name that a folder may have; raises RuntimeFault for any other."""
    if _NAME.fullmatch(name):
        return name
    raise RuntimeFault(
        SAVEPOINT_UNUSABLE,
        f"`{name}` can't be the name of a savepoint",
        "letters, digits, `_`, `-` and `.` make a name; the first is a letter or a digit",
    )


def check_free(name: str, taken: list[str]) -> str:
    """A name that a new savepoint may have; raises RuntimeFault for any other."""
    if check_name(name) not in taken:
        return name
    raise name_taken(name)


def new_name(pipeline: str, barrier: int, taken: list[str]) -> str:
    """An unused name for a savepoint, with its barrier in it."""
    stem = f"{pipeline}-{barrier:06d}"
    return next(n for i in range(10**6) if (n := f"{stem}-{i}" if i else stem) not in taken)


def now() -> datetime:
    """The instant, in UTC."""
    return datetime.now(UTC)
