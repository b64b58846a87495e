"""The ledger of a batch of a query: what happened to its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ..json_records import Malformed, Record
from ..records import dataclass

Entry: TypeAlias = Mapping[str, Any]
"""The ``kind`` of a source or an operator, and numbers by what they count."""


@dataclass(frozen=True, slots=True)
class LeakNote(Record):
    """An identity that did not hold."""

    batch: int
    place: str
    identity: str


@dataclass(frozen=True, slots=True)
class LedgerNote(Record):
    """Entries by the names of sources and ids of operators.

    ``unaccounted`` are parts of the plan without counters. If ``recounted``, some of the batch's
    work was done twice, and the identities do not apply.
    """

    query: str
    batch: int
    entries: Mapping[str, Entry]
    unaccounted: tuple[str, ...] = ()
    recounted: bool = False
    leaks: tuple[LeakNote, ...] = ()

    def check(self) -> None:
        """Raise ``Malformed`` for an entry without a kind, or without a number of rows."""
        for name, entry in self.entries.items():
            if not isinstance(entry.get("kind"), str):
                raise Malformed("is not a text", "entries", name, "kind")
            if not isinstance(entry.get("held", 0), int):
                raise Malformed("is not a whole number", "entries", name, "held")
