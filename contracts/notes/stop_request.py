"""A request to a run that it end: a note in the mailbox of its state."""

from __future__ import annotations

from dataclasses import field

from ..json_records import WRITTEN, Malformed, Record
from ..records import dataclass

STOP = "stop"


@dataclass(frozen=True, slots=True)
class StopRequest(Record):
    """Asks a run (``owner``) to end with a last barrier; a drain emits all windows first."""

    request: str = field(default=STOP, kw_only=True, metadata=WRITTEN)
    id: str
    owner: str
    drain: bool
    by: str
    made_at: str

    def check(self) -> None:
        """Raise ``Malformed`` for a request of something else."""
        if self.request != STOP:
            raise Malformed("is not a request to stop", "request")
