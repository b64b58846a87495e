"""A fact about an operator's state, and wording shared by several kinds.

Statements about time were compared with Spark: see the tests.
"""

from __future__ import annotations

from ....contracts.records import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """Something true of an operator: its name and its texts, each on lines of its own."""

    name: str
    texts: tuple[str, ...]


NO_BOUND = Fact("bound", ("nothing",))
"""The fact about state that grows for ever."""

LATE = "a row whose event time is not after the watermark is dropped"
"""Which rows are late for a step that uses the event time of each."""
