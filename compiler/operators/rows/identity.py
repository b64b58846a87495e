"""What distinguishes the rows of a relation: the columns that no two of its rows share."""

from __future__ import annotations

from collections.abc import Iterable

from ....contracts.records import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """Parts of a row's identity, each with the columns that hold it: any one of them suffices.

    A part without columns was projected away. ``constants`` are the same in all rows. ``words``
    name the parts as a user knows them.
    """

    parts: tuple[frozenset[str], ...]
    words: tuple[str, ...]
    constants: frozenset[str] = frozenset()


def by_columns(names: Iterable[str]) -> Identity:
    """Return the identity of rows that differ in these columns taken together."""
    words = tuple(names)
    return Identity(tuple(frozenset({name}) for name in words), words)
