"""Connectors and options of other engines, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

from ...dsl.ast.statements import Option

CONNECTORS = {
    "filesystem": "write `connector = 'files'`",
    "file": "write `connector = 'files'`",
    "s3": "write `connector = 'files'` and a path that begins with `s3a://`",
    "json": "write `connector = 'files', format = 'json'`",
    "csv": "write `connector = 'files', format = 'csv'`",
    "parquet": "write `connector = 'files', format = 'parquet'`",
    "orc": "write `connector = 'files', format = 'orc'`",
    "upsert-kafka": "write `connector = 'kafka', mode = 'upsert', key = …`",
    "datagen": "write `connector = 'rate'`, and compute columns from its `value`",
    "faker": "write `connector = 'rate'`, and compute columns from its `value`",
    "print": "write `connector = 'console'`",
    "blackhole": "write `connector = 'memory'`, or leave the sink out",
    "jdbc": "write `connector = 'postgres'`",
    "postgres-cdc": "write `connector = 'postgres'` in a sink; changes are not read",
    "foreachbatch": "write `connector = 'python', function = 'module:name'`",
    "delta": "write `connector = 'table'`",
    "iceberg": "write `connector = 'table'`",
}
"""What a connector of other engines is called here, by its name there."""

OPTIONS = {
    "properties.bootstrap.servers": "write `bootstrap_servers = …`",
    "properties.bootstrap.server": "write `bootstrap_servers = …`",
    "kafka.bootstrap.servers": "write `bootstrap_servers = …`",
    "properties.group.id": "leave it out: progress is kept with the state, not by Kafka",
    "scan.startup.mode": "write `starting_offsets = 'earliest'`",
    "startingoffsets": "write `starting_offsets = 'earliest'`",
    "subscribe": "write `topic = …`",
    "topic-pattern": "write `topic_pattern = …`",
    "value.format": "write `format = …`",
    "key.format": "a key is a column: `name STRING METADATA FROM 'key'`",
    "key.fields": "write `key = 'a, b'` in a sink",
    "rows-per-second": "write `rows_per_second = …`",
    "maxfilespertrigger": "write `max_files_per_trigger = …`",
    "maxoffsetspertrigger": "write `max_offsets_per_trigger = …`",
    "checkpointlocation": "it is a setting: `state: …` in the front matter",
    "json.ignore-parse-errors": "write `ON MALFORMED ROWS SKIP` behind the columns",
    "json.fail-on-missing-field": "write NOT NULL behind the columns that must be there",
    "csv.field-delimiter": "write `delimiter = ';'`",
    "sep": "write `delimiter = ';'`",
    "table-name": "write `table = …`",
    "username": "write `user = …`",
}
"""What an option of other engines is here, by its name there in lower case."""

_KSQLDB = frozenset(
    """kafka_topic value_format key_format partitions replicas retention_ms timestamp_format
    wrap_single_value value_delimiter key_delimiter value_avro_schema_full_name""".split()
)


def of_ksqldb(options: Iterable[Option]) -> Option | None:
    """Return the first option that only ksqlDB has, or None."""
    return next((o for o in options if o.name.text.lower() in _KSQLDB), None)


def topic_of(options: Iterable[Option]) -> str:
    """Return the topic that ksqlDB's options name, as it is written here."""
    named = (o.value for o in options if o.name.text.lower() == "kafka_topic")
    return f"'{next(named, '…')}'"
