"""The content of a migration file, and which parts have been used.

A plan asks for decisions where it needs them. An unused one is a mistake in the file: it names a
part that does not exist, or that needs no decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ....contracts.records import dataclass
from ....dsl.reports.source import Span
from .verdicts import Path


@dataclass(slots=True)
class Decisions:
    """The words and expressions of a file by their paths; without a file, none.

    Expressions are canonical SQL. ``spans`` are the locations of all paths, ``used`` those that
    were asked for.
    """

    values: dict[Path, str] = field(default_factory=dict)
    spans: dict[Path, Span] = field(default_factory=dict)
    used: set[Path] = field(default_factory=set)

    def get(self, *path: str) -> str | None:
        """Return the decision at a path, None without one."""
        found = self.values.get(path)
        if found is not None:
            self.used.add(path)
        return found

    def below(self, *path: str) -> dict[str, str]:
        """Return the decisions one step below a path, by name, without marking them as used."""
        depth = len(path)
        return {
            one[depth]: value
            for one, value in self.values.items()
            if len(one) == depth + 1 and one[:depth] == path
        }

    def unused(self) -> Iterator[Path]:
        """Yield the paths that nothing asked for, in the order of the file."""
        return (path for path in self.values if path not in self.used)
