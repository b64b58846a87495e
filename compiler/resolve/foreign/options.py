"""Connectors and options of other engines, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

from ....dsl.ast.statements import Option

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
}
"""What a connector of other engines is called here, by its name there."""

_TABLES = ("delta", "iceberg", "hudi", "paimon", "table", "deltalake", "delta-lake", "lakehouse")
_SERVERS = """mongodb mysql mysql-cdc kinesis pulsar pubsub rabbitmq redis elasticsearch opensearch
snowflake bigquery cassandra clickhouse http webhook socket eventhubs sqs mqtt nats oracle
sqlserver sqlite mariadb redshift cockroachdb dynamodb hbase influxdb websocket""".split()


def connector_help(name: str, role: str) -> str | None:
    """Return what to write instead of a connector of that name, None for one that nobody has.

    ``role`` is ``source``, ``table`` or ``sink``.
    """
    folded = name.lower()
    if folded in _TABLES:
        if role == "sink":
            return (
                "tables of a lake are not written yet: write `connector = 'files', format = "
                "'parquet'`,\nor `connector = 'python', function = 'module:name'` with a function "
                "that adds a batch to the table"
            )
        return (
            "tables of a lake are not read yet: a folder of Parquet files is `connector = 'files', "
            "format = 'parquet'`;\nwhat changes in a table can come by Kafka: `connector = 'kafka'`"
        )
    if folded in _SERVERS and folded not in CONNECTORS:
        if role == "sink":
            return "write `connector = 'python', function = 'module:name'`, which gets each batch"
        return "bring its rows to Kafka (`connector = 'kafka'`) or to files (`connector = 'files'`)"
    return CONNECTORS.get(folded)


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
