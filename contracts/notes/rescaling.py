"""The note of a generation that began with other partitions: what its making cost."""

from __future__ import annotations

from typing import ClassVar

from ..json_records import Malformed, Record
from ..records import dataclass


@dataclass(frozen=True, slots=True)
class RescalingNote(Record):
    """Partitions ``before`` and after, the ``bytes`` of state at the barrier, and the seconds."""

    FORMAT: ClassVar[int] = 1

    before: int
    after: int
    bytes: int
    seconds: float

    def check(self) -> None:
        """Raise ``Malformed`` for a duration that no estimate can follow from."""
        if not 0 <= self.seconds < float("inf"):
            raise Malformed("is not a number of seconds", "seconds")
