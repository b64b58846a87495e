"""The lease of a state folder: who holds it, as its ``lease.json`` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..json_records import WRITTEN, Malformed, Record
from ..records import dataclass

RUN = "run"
"""The purpose of a holder that runs a job."""
_LONGEST = 86_400.0


@dataclass(frozen=True, slots=True)
class LeaseNote(Record):
    """Who holds a folder: a run (``owner``), and its process (``pid``).

    ``processes`` has the start of each process that may write: Python's, and that of Spark's JVM,
    which outlives it for a moment. ``seconds`` is how long the lease is valid without a renewal;
    ``inode`` is that of the folder, which reveals a copied lease; ``work`` is the holder's purpose.
    Where there are no locks, ``number`` counts the takings of the lease, and one that was given
    back is ``released``.
    """

    owner: str
    pid: int
    host: str
    place: str | None
    processes: Mapping[str, str | None]
    started_at: str
    renewed_at: str
    seconds: float
    work: str = field(default=RUN, metadata=WRITTEN)
    inode: int | None = field(default=None, metadata=WRITTEN)
    number: int | None = None
    released: bool = False

    def check(self) -> None:
        """Raise ``Malformed`` for numbers that no process has, and for an impossible duration."""
        if self.pid < 1:
            raise Malformed("is not a number of at least 1", "pid")
        if not all(pid.isascii() and pid.isdigit() for pid in self.processes):
            raise Malformed("is not a list of processes", "processes")
        if not 0 < self.seconds <= _LONGEST:
            raise Malformed("is not a duration that a lease can have", "seconds")
