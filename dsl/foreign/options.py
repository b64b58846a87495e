"""Options of other engines by their names there, with their equivalents here.

Used by the parser, where names of options are quoted, and by the check of options.
"""

from __future__ import annotations

from collections.abc import Mapping

CONNECTORS = {
    "filesystem": "files",
    "file": "files",
    "upsert-kafka": "kafka",
    "datagen": "rate",
    "faker": "rate",
    "print": "console",
    "blackhole": "memory",
    "jdbc": "postgres",
}
"""Connectors by their names in other engines."""

RENAMED = {
    "properties.bootstrap.servers": "bootstrap_servers",
    "properties.bootstrap.server": "bootstrap_servers",
    "kafka.bootstrap.servers": "bootstrap_servers",
    "bootstrap.servers": "bootstrap_servers",
    "brokers": "bootstrap_servers",
    "scan.startup.mode": "starting_offsets",
    "startingoffsets": "starting_offsets",
    "auto.offset.reset": "starting_offsets",
    "subscribe": "topic",
    "kafka_topic": "topic",
    "topic-pattern": "topic_pattern",
    "subscribepattern": "topic_pattern",
    "value.format": "format",
    "value_format": "format",
    "rows-per-second": "rows_per_second",
    "rowspersecond": "rows_per_second",
    "maxfilespertrigger": "max_files_per_trigger",
    "maxoffsetspertrigger": "max_offsets_per_trigger",
    "csv.field-delimiter": "delimiter",
    "csv.null-literal": "null_value",
    "sep": "delimiter",
    "value_delimiter": "delimiter",
    "nullvalue": "null_value",
    "table-name": "table",
    "dbtable": "table",
    "username": "user",
    "sink.rolling-policy.file-size": "roll_size",
    "primary_key": "key",
}
"""Options that have another name here."""

_EARLIEST = ("earliest-offset", "earliest", "smallest")
_LATEST = ("latest-offset", "latest", "largest", "group-offsets")
VALUES = {
    "starting_offsets": {
        **dict.fromkeys(_EARLIEST, "earliest"),
        **dict.fromkeys(_LATEST, "latest"),
    },
    "connector": CONNECTORS,
}
"""Values of options by their names in other engines."""

OTHERWISE = {
    "properties.group.id": "leave it out: progress is kept with the state, not by Kafka",
    "group.id": "leave it out: progress is kept with the state, not by Kafka",
    "kafka.group.id": "leave it out: progress is kept with the state, not by Kafka",
    "key.format": "a key is a column: `name STRING METADATA FROM 'key'`",
    "key_format": "a key is a column: `name STRING METADATA FROM 'key'`",
    "key.fields": "write `key = 'a, b'` in a sink",
    "checkpointlocation": "it is a setting: `state: …` in the front matter",
    "json.ignore-parse-errors": "write `ON MALFORMED ROWS SKIP` after the columns",
    "csv.ignore-parse-errors": "write `ON MALFORMED ROWS SKIP` after the columns",
    "json.fail-on-missing-field": "write NOT NULL after the columns that are required",
    "partitions": "leave it out: topics are not created here",
    "replicas": "leave it out: topics are not created here",
    **dict.fromkeys(
        "delete deletes deletions on_delete delete_when ignore_delete is_delete tombstones "
        "sink.ignore-delete changelog-mode delete_condition".split(),
        "rows are added or replaced, never deleted: mark them in a column (`deleted BOOLEAN`),\n"
        "and delete such rows in the database, or read past them in a view",
    ),
}
"""What to do about options that do not exist here."""


def here(name: str, value: str) -> tuple[str, str] | None:
    """Return the name and value of an option as they are written here, None if there is none.

    >>> here("scan.startup.mode", "earliest-offset")
    ('starting_offsets', 'earliest')
    >>> here("properties.group.id", "g")
    """
    folded = name.lower()
    if folded in OTHERWISE:
        return None
    family, _, rest = name.partition(".")
    passed = f"spark.kafka.{rest}" if family in ("properties", "kafka") and rest else name
    new = RENAMED.get(folded, passed)
    known: Mapping[str, str] = VALUES.get(new, {})
    return new, known.get(value.lower(), value)


def told(name: str) -> str | None:
    """Return help about an option of another engine, None for an unknown name."""
    folded = name.lower()
    if folded in RENAMED:
        return f"write `{RENAMED[folded]} = …`"
    return OTHERWISE.get(folded)
