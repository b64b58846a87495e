"""The note of a generation: its origin, which batches count, what in it is inexact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import ClassVar

from ..json_records import WRITTEN, Malformed, Record, named
from ..records import dataclass
from .marks import Mark


@dataclass(frozen=True, slots=True)
class Origin(Record):
    """The generation, barrier and epoch that a generation continues.

    Up to the epoch ``same_to`` its batches are the same as there. ``savepoint`` is the one that it
    begins with, None if it is a rollback.
    """

    generation: str
    barrier: int
    epoch: int
    same_to: int | None = None
    savepoint: str | None = None


@dataclass(frozen=True, slots=True)
class CountedGeneration(Record):
    """A generation whose output counts, with the last batch of each query that does.

    The batches of one that is ``apart`` have numbers of their own: it comes before a savepoint.
    """

    generation: str
    batches: Mapping[str, int]
    apart: bool = False

    def check(self) -> None:
        """Raise ``Malformed`` for an impossible batch number."""
        for query, batch in self.batches.items():
            if batch < -1:
                raise Malformed("is not a number of at least -1", "batches", query)


@dataclass(frozen=True, slots=True)
class Generation(Record):
    """A generation by its number; ``lineage`` are its ancestors, oldest first."""

    FORMAT: ClassVar[int] = 2

    number: str = field(metadata=named("generation"))
    origin: Origin | None = field(metadata=named("from"))
    lineage: tuple[CountedGeneration, ...]
    marks: tuple[Mark, ...] = field(default=(), metadata=WRITTEN)
    made_at: datetime = field(kw_only=True)

    def check(self) -> None:
        """Raise ``Malformed`` for a number that no folder has."""
        if not (self.number.isascii() and self.number.isdigit()):
            raise Malformed("is not the number of a generation", "generation")
