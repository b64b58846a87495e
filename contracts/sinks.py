"""What each sink guarantees for a row, and what a rollback does to rows that it has received.

The compiler shows it before a job runs (``streamc explain``), the runtime when a job returns to a
barrier; it is known without a connection.
"""

from __future__ import annotations

from collections.abc import Mapping

from .records import dataclass


@dataclass(frozen=True, slots=True)
class Rollback:
    """What becomes of the rows that a sink received after a barrier when a job returns to it.

    ``restores`` is whether the output then ends up as if they had never been sent. ``effect``
    follows "When a job goes back to a barrier, …".
    """

    restores: bool
    effect: str


@dataclass(frozen=True, slots=True)
class SinkPromise:
    """What a sink guarantees.

    ``delivery`` says how often a row arrives, beginning with "exactly once" or "at least once".
    ``of_upserts`` is the rollback of a sink that replaces the row of a key; None if it can't.
    ``lasts`` is whether its rows, or their effects, remain once a run has ended.
    """

    delivery: str
    rollback: Rollback
    of_upserts: Rollback | None
    lasts: bool

    @property
    def upserts(self) -> bool:
        """Whether it can replace the row of a key."""
        return self.of_upserts is not None

    def going_back(self, *, upserts: bool) -> Rollback:
        """Return what a rollback does to a sink that adds rows, or to one that replaces them."""
        return self.of_upserts if upserts and self.of_upserts is not None else self.rollback


_SENT_AGAIN = Rollback(False, "later messages stay in the topic, and are sent again")
_CALLED_AGAIN = Rollback(False, "the function gets later batches again, with the same ids")
_OF_A_RUN = Rollback(True, "rows are kept for a run only")
_NOTHING = Rollback(True, "there is nothing to undo, as no row was kept")

SINKS: Mapping[str, SinkPromise] = {
    "files": SinkPromise(
        "exactly once: a batch's files are published together, and never a second time",
        Rollback(True, "the files of later batches are removed when the job starts"),
        None,
        lasts=True,
    ),
    "kafka": SinkPromise(
        "at least once: after a restart the messages of a batch may be sent again",
        _SENT_AGAIN,
        _SENT_AGAIN,
        lasts=True,
    ),
    "postgres": SinkPromise(
        "exactly once: a batch and its number are written in one transaction",
        Rollback(False, "later rows stay in the table, and come again"),
        Rollback(True, "later rows are replaced as their keys come again"),
        lasts=True,
    ),
    "console": SinkPromise(
        "at least once: a batch that was not committed is printed again after a restart",
        Rollback(False, "later batches are printed again"),
        None,
        lasts=True,
    ),
    "memory": SinkPromise(
        "exactly once in a run: the rows are gone with the process",
        _OF_A_RUN,
        _OF_A_RUN,
        lasts=False,
    ),
    "discard": SinkPromise(
        "exactly once in the counts: a row is computed in full, counted and thrown away",
        _NOTHING,
        _NOTHING,
        lasts=False,
    ),
    "python": SinkPromise(
        "at least once: after a restart a batch may come again, with its id and its rows",
        _CALLED_AGAIN,
        _CALLED_AGAIN,
        lasts=True,
    ),
}
"""The sinks by their connectors' names."""
