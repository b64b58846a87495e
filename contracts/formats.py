"""The formats of files and messages, by the names that specs, scripts and plans have for them."""

from __future__ import annotations

from collections.abc import Mapping

LINES = ("json", "csv", "text")
"""Those in which a row is a line of text: a test may give it as it is."""

FILES_READ = ("json", "csv", "parquet", "orc", "avro", "text")
FILES_WRITTEN = FILES_READ

_OF_LINES = {"none": "none", "gzip": "gzip", "bzip2": "bzip2", "deflate": "deflate"} | {
    "lz4": "lz4",
    "snappy": "snappy",
}
COMPRESSIONS: Mapping[str, Mapping[str, str]] = {
    "json": _OF_LINES,
    "csv": _OF_LINES,
    "text": _OF_LINES,
    "parquet": {
        **{"none": "none", "snappy": "snappy", "gzip": "gzip", "zstd": "zstd"},
        # What Spark calls lz4 is a framing of Hadoop's that few readers know.
        "lz4": "lz4_raw",
    },
    "orc": {"none": "none", "snappy": "snappy", "zlib": "zlib", "zstd": "zstd", "lz4": "lz4"},
    "avro": {
        **{"none": "uncompressed", "snappy": "snappy", "deflate": "deflate", "bzip2": "bzip2"},
        "zstd": "zstandard",
    },
}
"""How files of each format can be compressed, with Spark's names."""

MESSAGES_WRITTEN = LINES
MESSAGES_READ = (*MESSAGES_WRITTEN, "raw")

GIVEN = "\u0001"
"""What an instant begins with that a test gives as a value, where the source reads texts by a
pattern of its own: ISO text follows, which the kernel reads there in tests alone.
"""
