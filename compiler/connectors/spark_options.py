"""Options of Spark's own readers and writers that a spec may pass on, prefixed ``spark.``.

Those in Spark's documentation, except the ones that the language has itself: which columns there
are, what happens to malformed rows, how much is read at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...contracts.records import dataclass

PREFIX = "spark."

NOT_PASSED = {
    "checkpointlocation": "`state` in the front matter says where progress is kept",
    "columnnameofcorruptrecord": "write `ON MALFORMED ROWS SEND TO` a side stream",
    "enforceschema": "the header of a file is always compared with the declared columns",
    "inferschema": "the columns are declared",
    "mode": "`ON MALFORMED ROWS FAIL | SKIP | SEND TO stream` says what to do with malformed rows",
    "multiline": "a line holds one value",
    "samplingratio": "the columns are declared",
}
"""Replacements for options that no connector passes on, by their names in lower case."""


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """What a connector passes on to Spark.

    ``common`` are options of all formats, ``of_format`` those of one. ``families`` are prefixes
    that Spark passes to a library as a whole: consumers, producers, columnar writers.

    ``neutral`` options, given as prefixes, do not change the rows that are read; ``telling`` are
    exceptions among them that do. ``instead`` has replacements for others.
    """

    common: tuple[str, ...]
    of_format: Mapping[str, tuple[str, ...]]
    families: tuple[str, ...]
    neutral: tuple[str, ...]
    telling: tuple[str, ...]
    instead: Mapping[str, str]

    def names(self, file_format: str | None) -> tuple[str, ...]:
        """Return the options that may be passed on; those of all formats if none is given."""
        one = self.of_format.get(file_format or "")
        chosen = list(self.of_format.values()) if one is None else [one]
        return tuple(dict.fromkeys((*self.common, *(name for some in chosen for name in some))))

    def takes(self, name: str, file_format: str | None) -> bool:
        """Return whether an option is passed on, ignoring case."""
        folded = name.lower()
        known = {one.lower() for one in self.names(file_format)}
        return folded.startswith(self.families) or folded in known

    def is_neutral(self, name: str) -> bool:
        """Return whether an option leaves the rows that are read unchanged."""
        return name.startswith(self.neutral) and name not in self.telling
