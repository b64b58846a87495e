"""Files of a state folder on this machine's disk, without a JVM.

Processes other than the job read and write only small files there: a lease, requests, manifests.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ...contracts.notes.identity import StateIdentity
from ..base.errors import NO_STATE_FOLDER, RuntimeFault
from ..base.private_files import make_folders, open_new
from .file_system import Version
from .notes import read_note_as

if TYPE_CHECKING:
    from .file_system import Files


class LocalFiles:
    """The local subset of `Storage`, with the same guarantees."""

    def list(self, folder: str) -> list[str]:
        """The names in a folder, sorted; none when there is no folder."""
        try:
            return sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def read(self, path: str) -> str | None:
        """A file's text, or None when there is no such file.

        Bytes that are not UTF-8 become surrogates, which a note's checksum then detects.
        """
        try:
            return Path(path).read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def create(self, path: str, text: str) -> None:
        """Writes a new file that appears whole or not at all; an existing one is an error."""
        written = self._temporary(path, text)
        try:
            os.link(written, path)
        finally:
            written.unlink()

    def replace(self, path: str, text: str) -> None:
        """Writes a file in place of what is there; readers see the old one or the new one."""
        self._temporary(path, text).replace(path)

    def delete(self, paths: Sequence[str]) -> None:
        """Removes files and whole folders, ignoring missing ones."""
        for path in map(Path, paths):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def modified(self, path: str) -> float | None:
        """When a file was written, in seconds by its file system's clock; None without a file."""
        try:
            return os.stat(path).st_mtime
        except (FileNotFoundError, NotADirectoryError):
            return None

    def version(self, path: str) -> Version | None:
        """A file with the time it was written, or None; on a disk locks tell writers apart."""
        text, written = self.read(path), self.modified(path)
        return None if text is None or written is None else Version(text, "", written)

    def _temporary(self, path: str, text: str) -> Path:
        """The text in a hidden file next to its target, durable."""
        target = Path(path)
        make_folders(target.parent)
        # Two machines may have processes with the same PID.
        temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.tmp")
        with open_new(temporary) as out:
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
        return temporary


def local_folder(path: str) -> str:
    """The path on this machine's disk of a folder that may not exist yet.

    Raises RuntimeFault when it lies on another file system.
    """
    url = urlsplit(path)
    if url.scheme not in ("", "file"):
        raise RuntimeFault(
            NO_STATE_FOLDER,
            f"{path} is not on this machine's disk, which this command needs",
            "docs/operations.md has a table of what each command can do in which store",
        )
    return (unquote(url.path) if url.scheme else path).rstrip("/") or "/"


def local_state(path: str) -> tuple[LocalFiles, str, StateIdentity]:
    """The files of a state folder, its path on the disk, and its `state.json`.

    Raises RuntimeFault when the path is not a state folder, or is on another file system.
    """
    folder = local_folder(path)
    files = LocalFiles()
    if not os.path.isdir(folder):
        raise RuntimeFault(
            NO_STATE_FOLDER,
            f"there is no folder {path}",
            "pass the folder that the job was given as `state`",
        )
    return files, folder, state_identity(files, folder, path)


def state_identity(files: Files, folder: str, shown: str) -> StateIdentity:
    """What the `state.json` of a folder says; raises RuntimeFault when it has none."""
    found = read_note_as(files, identity_file(folder), StateIdentity.from_json)
    if found is None:
        raise RuntimeFault(
            NO_STATE_FOLDER,
            f"{shown} is not a state folder: it has no state.json",
            "pass the folder that the job was given as `state`",
        )
    return found


def identity_file(folder: str) -> str:
    """The file that says whose a state folder is."""
    return f"{folder}/state.json"
