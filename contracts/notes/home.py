"""The note of where a state is and which runs it had: its ``home.json``."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from ..json_records import WRITTEN, Record
from ..records import dataclass


@dataclass(frozen=True, slots=True)
class HomeNote(Record):
    """The path of a state folder, and on a disk its host and what is preserved when it is moved.

    ``turns`` are the ids of its last runs. ``copy_of`` are the ids of the states that it was copied
    from and separated from.
    """

    FORMAT: ClassVar[int] = 1

    path: str
    host: str | None = field(default=None, kw_only=True, metadata=WRITTEN)
    device: int | None = field(default=None, kw_only=True, metadata=WRITTEN)
    inode: int | None = field(default=None, kw_only=True, metadata=WRITTEN)
    turns: tuple[str, ...]
    copy_of: tuple[str, ...]
