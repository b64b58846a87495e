"""What both sides know of a connector that is read: whether it reads files, and its metadata.

The compiler checks declarations by it, the runtime reads by it, and both agree by it on the rows
that a test gives.
"""

from __future__ import annotations

from collections.abc import Mapping

from .records import dataclass


@dataclass(frozen=True, slots=True)
class ReaderFacts:
    """What is known of a connector as a source or table.

    ``reads_files`` is whether its rows are in files, as those are that a test gives to any source;
    ``metadata`` what it knows of each row besides its columns, by key, with the type.
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
"""Those that are read, by the names of the connectors."""
