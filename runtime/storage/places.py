"""Folders on a disk or elsewhere: whether two are the same, whatever their names."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A folder: its path, and on a disk its host and what is preserved when it is moved."""

    path: str
    host: str | None = None
    device: int | None = None
    inode: int | None = None

    @classmethod
    def of(cls, folder: str, *, local: bool) -> Place:
        """The place of a folder; raises OSError when this disk has no such folder."""
        if not local:
            return cls(folder.rstrip("/"))
        found = os.stat(folder)
        inode = found.st_ino or None
        return cls(os.path.realpath(folder), socket.gethostname(), found.st_dev, inode)

    def is_same(self, other: Place) -> bool:
        """Whether both are the same folder, whatever their names.

        Devices are renumbered when a machine restarts, and a folder has another name when it was
        moved or is mounted in a container; where both differ it is another folder. Without inodes,
        and for a folder restored from a copy, the name on its host decides.
        """
        if self.path == other.path and self.host == other.host:
            return True
        if self.inode is None or self.inode != other.inode:
            return False
        return self.path == other.path or self.device == other.device

    @property
    def shown(self) -> str:
        path = self.path.removeprefix("file:")
        return path if self.host is None else f"{path} on {self.host}"


_DISKS = re.compile(r"(ext[234]|xfs|btrfs|zfs|f2fs|jfs|reiserfs|bcachefs|tmpfs|ramfs|overlay)")
"""File systems local to one machine: a file lock there is visible to all who can open the file."""


def is_own_disk(folder: str) -> bool:
    """Whether a folder is on a disk to which no other machine writes, as far as is known."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    path = f"{os.path.realpath(folder)}/"
    longest, kind = "", "ext4"
    for line in mounts.splitlines():
        _, point, found, *_ = line.split(" ")
        point = _unescaped(point).rstrip("/") + "/"
        if path.startswith(point) and len(point) >= len(longest):
            longest, kind = point, found
    return _DISKS.fullmatch(kind) is not None


def _unescaped(text: str) -> str:
    r"""A path in the kernel's mount table, where a space is `\040`."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
