"""What a migration file says, and what of it has been used.

A plan asks for decisions where it needs them. What nothing asked for is a mistake in the file: it
names a part that is not there, or that needs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ...contracts.records import dataclass
from ...dsl.source import Span
from .verdicts import Path


@dataclass(slots=True)
class Decisions:
    """The words and expressions of a file by their paths; without a file, none.

    Expressions are canonical SQL. ``spans`` are the places of all paths, ``used`` those that were
    asked for.
    """

    values: dict[Path, str] = field(default_factory=dict)
    spans: dict[Path, Span] = field(default_factory=dict)
    used: set[Path] = field(default_factory=set)

    def get(self, *path: str) -> str | None:
        """Return what is said at a path, None when nothing is."""
        found = self.values.get(path)
        if found is not None:
            self.used.add(path)
        return found

    def below(self, *path: str) -> dict[str, str]:
        """Return what is said one step below a path, by name, without using it up."""
        depth = len(path)
        return {
            one[depth]: value
            for one, value in self.values.items()
            if len(one) == depth + 1 and one[:depth] == path
        }

    def unused(self) -> Iterator[Path]:
        """Yield the paths that nothing asked for, in the order of the file."""
        return (path for path in self.values if path not in self.used)
