"""How far a run is with what it was asked: the note that answers a request."""

from __future__ import annotations

from ..json_records import Record
from ..records import dataclass


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """A phase in plain words; a last one says by which ``barrier`` the run ended, or the reason."""

    phase: str
    reason: str | None = None
    barrier: int | None = None
    epoch: int | None = None
