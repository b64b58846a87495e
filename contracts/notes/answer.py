"""The progress of a run with a request: the note that answers it."""

from __future__ import annotations

from ..json_records import Record
from ..records import dataclass


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """A phase in plain words; the last gives the ``barrier`` that ended the run, or the reason."""

    phase: str
    reason: str | None = None
    barrier: int | None = None
    epoch: int | None = None
