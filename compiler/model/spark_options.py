"""Options of Spark's own readers and writers that a spec may pass on, prefixed ``spark.``.

Those of Spark's documentation, without the ones that the language says itself: which columns there
are, what becomes of malformed rows, how much is read at once.
"""

from __future__ import annotations

_FILES_READ = "pathGlobFilter recursiveFileLookup ignoreCorruptFiles ignoreMissingFiles".split()
_FILES_STREAMED = (
    "maxBytesPerTrigger latestFirst maxFileAge fileNameOnly cleanSource sourceArchiveDir "
    "maxCachedFiles discardCachedInputRatio".split()
)
_TIMES = "dateFormat timestampFormat timestampNTZFormat timeZone locale".split()
_CSV_BOTH = (
    "quote escape emptyValue lineSep encoding charset ignoreLeadingWhiteSpace "
    "ignoreTrailingWhiteSpace".split()
)

_READ: dict[str, dict[str, list[str]]] = {
    "files": {
        "json": "allowComments allowUnquotedFieldNames allowSingleQuotes allowNumericLeadingZeros "
        "allowBackslashEscapingAnyCharacter allowUnquotedControlChars allowNonNumericNumbers "
        "lineSep".split()
        + _TIMES,
        "csv": "comment nanValue positiveInf negativeInf multiLine".split() + _CSV_BOTH + _TIMES,
        "parquet": "datetimeRebaseMode int96RebaseMode".split(),
        "orc": [],
        "avro": "avroSchema avroSchemaUrl positionalFieldMatching datetimeRebaseMode".split(),
        "text": "lineSep wholetext".split(),
    },
    "kafka": {
        "": "failOnDataLoss minPartitions maxRecordsPerPartition groupIdPrefix "
        "minOffsetsPerTrigger maxTriggerDelay startingTimestamp startingOffsetsByTimestamp "
        "startingOffsetsByTimestampStrategy kafkaConsumer.pollTimeoutMs fetchOffset.numRetries "
        "fetchOffset.retryIntervalMs".split(),
    },
    "rate": {"": "rampUpTime numPartitions".split()},
}
_WRITE: dict[str, dict[str, list[str]]] = {
    "files": {
        "json": "compression encoding lineSep ignoreNullFields".split() + _TIMES,
        "csv": "compression quoteAll escapeQuotes charToEscapeQuoteEscaping nullValue".split()
        + _CSV_BOTH
        + _TIMES,
        "parquet": ["compression"],
        "orc": ["compression"],
        "avro": "compression avroSchema recordName recordNamespace".split(),
    },
    "kafka": {"": []},
}
_COMMON = {"read": {"files": _FILES_READ}, "write": {"files": ["maxRecordsPerFile"]}}

_PREFIXES: dict[str, dict[str, tuple[str, ...]]] = {
    "read": {"kafka": ("kafka.",)},
    "write": {"kafka": ("kafka.",), "files": ("parquet.", "orc.")},
}
"""Whole families that Spark hands on to a library: consumers, producers, writers of columns."""

INSTEAD = {
    "checkpointlocation": "`state` in the front matter says where progress is kept",
    "columnnameofcorruptrecord": "write `ON MALFORMED ROWS SEND TO` a side stream",
    "delimiter": "write `delimiter = '…'`",
    "enforceschema": "the header of a file is always compared with the declared columns",
    "header": "write `header = '…'`",
    "includeheaders": "declare a column with `METADATA FROM 'headers'`",
    "inferschema": "the columns are declared",
    "maxfilespertrigger": "write `max_files_per_trigger = '…'`",
    "maxoffsetspertrigger": "write `max_offsets_per_trigger = '…'`",
    "mode": "`ON MALFORMED ROWS FAIL | SKIP | SEND TO stream` says what becomes of malformed rows",
    "multiline": "a line holds one value",
    "nullvalue": "write `null_value = '…'`",
    "path": "write `path = '…'`",
    "rowspersecond": "write `rows_per_second = '…'`",
    "samplingratio": "the columns are declared",
    "sep": "write `delimiter = '…'`",
    "startingoffsets": "write `starting_offsets = '…'`",
    "subscribe": "write `topic = '…'`, or `topics = '…'`",
    "subscribepattern": "write `topic_pattern = '…'`",
}
"""What to write instead of some others, by their names in lower case."""


def passed_on(role: str, connector: str, file_format: str | None) -> tuple[str, ...] | None:
    """Return the options that may be passed on, None for a connector of which all may.

    ``role`` is ``source``, ``table`` or ``sink``. Without a format, those of all formats.
    """
    way = "write" if role == "sink" else "read"
    of_formats = (_WRITE if way == "write" else _READ).get(connector)
    if of_formats is None:
        return None
    chosen = [of_formats[file_format]] if file_format in of_formats else list(of_formats.values())
    streamed = _FILES_STREAMED if role == "source" and connector == "files" else []
    names = [*_COMMON[way].get(connector, ()), *streamed, *(n for some in chosen for n in some)]
    return tuple(dict.fromkeys(names))


def in_family(role: str, connector: str, name: str) -> bool:
    """Return whether an option is of a family that is passed on as a whole."""
    way = "write" if role == "sink" else "read"
    return name.lower().startswith(_PREFIXES[way].get(connector, ()))
