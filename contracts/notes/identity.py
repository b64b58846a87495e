"""The owner of a state folder: its ``state.json``."""

from __future__ import annotations

from typing import ClassVar

from ..json_records import Record
from ..records import dataclass


@dataclass(frozen=True, slots=True)
class StateIdentity(Record):
    """The id of a state folder, by which outputs know it, and the pipeline it belongs to."""

    FORMAT: ClassVar[int] = 2

    id: str
    pipeline: str
