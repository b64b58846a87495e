"""The formats of files and messages, by the names that specs, scripts and plans have for them."""

from __future__ import annotations

LINES = ("json", "csv", "text")
"""Those in which a row is a line of text: a test may give it as it is."""

FILES_WRITTEN = ("json", "csv", "parquet", "orc", "avro")
FILES_READ = (*FILES_WRITTEN, "text")

MESSAGES_WRITTEN = LINES
MESSAGES_READ = (*MESSAGES_WRITTEN, "raw")

GIVEN = "\u0001"
"""What an instant begins with that a test gives as a value, where the source reads texts by a
pattern of its own: ISO text follows, which the kernel reads there in tests alone.
"""
