"""What both sides know of a readable connector: whether it reads files, and its metadata.

The compiler checks declarations against it, the runtime reads by it, and by it both agree on the
rows that a test supplies.
"""

from __future__ import annotations

from collections.abc import Mapping

from .records import dataclass


@dataclass(frozen=True, slots=True)
class ReaderFacts:
    """What is known of a connector as a source or table.

    ``reads_files`` is whether its rows are in files, as those that a test supplies to any source
    are; ``metadata`` is what it knows of each row besides its columns, by key, with the type.
    """

    reads_files: bool
    metadata: Mapping[str, str]


READERS: Mapping[str, ReaderFacts] = {
    "files": ReaderFacts(True, {"path": "STRING", "modified_at": "TIMESTAMP"}),
    "kafka": ReaderFacts(
        False,
        {
            "key": "BINARY",
            "topic": "STRING",
            "partition": "INT",
            "offset": "BIGINT",
            "timestamp": "TIMESTAMP",
            "headers": "ARRAY<STRUCT<key: STRING, value: BINARY>>",
        },
    ),
    "rate": ReaderFacts(False, {}),
}
"""The readable connectors, by name."""
