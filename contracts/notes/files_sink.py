"""The notes of a files sink: where it writes, who owns a folder, what is published there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from ..json_records import WRITTEN, Malformed, Record
from ..records import dataclass

FORMAT = 2


@dataclass(frozen=True, slots=True)
class FilesSinkNote(Record):
    """A sink in its state: where it writes and once wrote, and how.

    ``roll_size`` is the length in bytes after which a batch begins another file; 0 for none.
    """

    FORMAT: ClassVar[int] = FORMAT

    path: str
    earlier: tuple[str, ...]
    query: str
    file_format: str
    options: Mapping[str, str]
    roll_size: int

    def check(self) -> None:
        """Raise ``Malformed`` for an impossible length."""
        _check_length(self.roll_size, "roll_size")


@dataclass(frozen=True, slots=True)
class ClaimedPlace(Record):
    """Where a folder is; on a disk its host and what is preserved when it is moved."""

    path: str
    host: str | None = field(default=None, metadata=WRITTEN)
    device: int | None = field(default=None, metadata=WRITTEN)
    inode: int | None = field(default=None, metadata=WRITTEN)


@dataclass(frozen=True, slots=True)
class OutputClaim(Record):
    """The owner of a folder: a state, and its run (``turn``) that last wrote there."""

    FORMAT: ClassVar[int] = FORMAT

    state: str
    sink: str
    turn: str | None = None
    place: ClaimedPlace | None = None


@dataclass(frozen=True, slots=True)
class PublishedFile(Record):
    """A file of a batch: its final name, its name in staging, its length and its rows."""

    name: str
    staged: str
    bytes: int
    rows: int

    def check(self) -> None:
        """Raise ``Malformed`` for a file of another folder, and for impossible numbers."""
        _check_name(self.name, "name")
        _check_name(self.staged, "staged")
        _check_length(self.bytes, "bytes")
        _check_length(self.rows, "rows")


@dataclass(frozen=True, slots=True)
class PublishedBatch(Record):
    """A batch that is published: its rows, and the files that hold them."""

    FORMAT: ClassVar[int] = FORMAT

    rows: int
    files: tuple[PublishedFile, ...]

    def check(self) -> None:
        """Raise ``Malformed`` for an impossible number of rows."""
        _check_length(self.rows, "rows")


@dataclass(frozen=True, slots=True)
class Merge(Record):
    """A file that replaces others, and holds their rows; ``staged`` is its path in staging."""

    FORMAT: ClassVar[int] = FORMAT

    name: str
    bytes: int
    staged: str
    replaces: tuple[str, ...]

    def check(self) -> None:
        """Raise ``Malformed`` for a file of another folder, and for an impossible length."""
        _check_name(self.name, "name")
        _check_length(self.bytes, "bytes")
        for part in self.staged.split("/"):
            _check_name(part, "staged")
        for name in self.replaces:
            _check_name(name, "replaces")


def _check_name(name: str, key: str) -> None:
    if "/" in name or name in ("", ".", ".."):
        raise Malformed("is not the name of a file", key)


def _check_length(found: int, key: str) -> None:
    if found < 0:
        raise Malformed("is not a number of at least 0", key)
