"""File system operations of checks and rollbacks: whole trees, checksums, links, one rename.

`LocalDisk` is this machine's disk, without a JVM; `RemoteDisk` any other path, through the kernel.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..base.private_files import make_folders
from .file_system import Files
from .local_files import LocalFiles

if TYPE_CHECKING:
    from .file_system import HadoopFiles

_CHUNK = 1 << 20
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS)


@dataclass(frozen=True, slots=True)
class Sum:
    """The content of a file. `aside`: whether its `.crc` file agrees; None without one."""

    bytes: int
    crc32: str
    aside: bool | None = None


class Tree(Files, Protocol):
    """A file system whose trees are looked at; paths are absolute, without a scheme if local."""

    def tree(self, folder: str) -> list[str]:
        """All files below a folder, by their paths relative to it; none without a folder."""
        ...

    def content(self, path: str) -> bytes | None:
        """The bytes of a small file, or None when there is no such file."""
        ...

    def sums(self, paths: Iterable[str]) -> Mapping[str, Sum]:
        """Reads the existing files."""
        ...


class Disk(Tree, Protocol):
    """A file system with links and renamed folders."""

    def link(self, source: str, target: str) -> None:
        """The file under a second name, as a hard link where supported, else as a copy."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Renames a folder once its content is durable; the name must be free."""
        ...


def side_file(path: str) -> str:
    """The path of Hadoop's checksums for a file on a local disk."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.crc"


class LocalDisk(LocalFiles):
    """A disk of this machine."""

    def tree(self, folder: str) -> list[str]:
        found: list[str] = []
        below = [""]
        while below:
            prefix = below.pop()
            try:
                with os.scandir(f"{folder}/{prefix}") as entries:
                    for entry in entries:
                        path = f"{prefix}{entry.name}"
                        if entry.is_dir(follow_symlinks=False):
                            below.append(f"{path}/")
                        else:
                            found.append(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
        return sorted(found)

    def content(self, path: str) -> bytes | None:
        try:
            return Path(path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def sums(self, paths: Iterable[str]) -> Mapping[str, Sum]:
        found = {path: _sum(path) for path in paths}
        return {path: held for path, held in found.items() if held is not None}

    def link(self, source: str, target: str) -> None:
        make_folders(Path(target).parent)
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            shutil.copy2(source, target)
            _make_safe(target)

    def rename(self, source: str, target: str) -> None:
        for folder, _, _ in os.walk(source):
            _make_safe(folder)
        if os.path.lexists(target):
            raise FileExistsError(target)
        os.rename(source, target)
        _make_safe(os.path.dirname(target))


class RemoteDisk:
    """Any path that Hadoop reaches, through the kernel; such stores verify what they return."""

    def __init__(self, storage: HadoopFiles) -> None:
        self._checks = storage.checks
        self.list = storage.list
        self.read = storage.read
        self.create = storage.create
        self.replace = storage.replace
        self.delete = storage.delete
        self.modified = storage.modified
        self.version = storage.version
        self.exchange = storage.exchange
        self.refusal = storage.refusal

    def tree(self, folder: str) -> list[str]:
        return [str(path) for path in json.loads(self._checks.tree(folder))]

    def content(self, path: str) -> bytes | None:
        found = self._checks.content(path)
        return None if found is None else bytes(found)

    def sums(self, paths: Iterable[str]) -> Mapping[str, Sum]:
        found: dict[str, Any] = json.loads(self._checks.sums(json.dumps(list(paths))))
        return {path: Sum(int(size), str(crc)) for path, (size, crc) in found.items()}

    def link(self, source: str, target: str) -> None:
        self._checks.copy(source, target)

    def rename(self, source: str, target: str) -> None:
        self._checks.rename(source, target)


def _sum(path: str) -> Sum | None:
    try:
        with open(path, "rb") as file:
            aside = _SideFile.of(path)
            crc, size = 0, 0
            while block := file.read(_CHUNK):
                crc = zlib.crc32(block, crc)
                size += len(block)
                if aside is not None:
                    aside.compare(block)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    return Sum(size, f"{crc:08x}", None if aside is None else aside.agrees)


class _SideFile:
    """Hadoop's checksums of a file: a magic, the length of a chunk, the CRC-32 of each chunk."""

    def __init__(self, content: bytes) -> None:
        self._rest = memoryview(content)[8:]
        self._chunk = int.from_bytes(content[4:8], "big")
        # Blocks are read by whole chunks, whatever power of two Hadoop is configured with.
        self._same = content[:4] == b"crc\0" and 0 < self._chunk <= _CHUNK
        self._same = self._same and _CHUNK % self._chunk == 0

    @classmethod
    def of(cls, path: str) -> _SideFile | None:
        try:
            return cls(Path(side_file(path)).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def compare(self, block: bytes) -> None:
        """Compares the next block; all but the last have one length."""
        if not self._same:
            return
        view = memoryview(block)
        starts = range(0, len(block), self._chunk)
        found = b"".join(
            zlib.crc32(view[at : at + self._chunk]).to_bytes(4, "big") for at in starts
        )
        self._same = self._rest[: len(found)] == found
        self._rest = self._rest[len(found) :]

    @property
    def agrees(self) -> bool:
        return self._same and not self._rest


def _make_safe(path: str) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
