"""Connectors of other engines by their names there, with replacements."""

from __future__ import annotations

from collections.abc import Iterable

from ...dsl.ast.statements import Option
from .registry import CONNECTORS

_TABLES = ("delta", "iceberg", "hudi", "paimon", "table", "deltalake", "delta-lake", "lakehouse")
_SERVERS = """mongodb mysql mysql-cdc kinesis pulsar pubsub rabbitmq redis elasticsearch opensearch
snowflake bigquery cassandra clickhouse http webhook socket eventhubs sqs mqtt nats oracle
sqlserver sqlite mariadb redshift cockroachdb dynamodb hbase influxdb websocket""".split()

_INSTEAD = {name: help_ for one in CONNECTORS for name, help_ in one.elsewhere.items()}

_KSQLDB = frozenset(
    """kafka_topic value_format key_format partitions replicas retention_ms timestamp_format
    wrap_single_value value_delimiter key_delimiter value_avro_schema_full_name""".split()
)


def connector_help(name: str, role: str) -> str | None:
    """Return the replacement of a connector of that name, None for an unknown one.

    ``role`` is ``source``, ``table`` or ``sink``.
    """
    folded = name.lower()
    if folded in _TABLES:
        if role == "sink":
            return (
                "lakehouse tables cannot be written yet: write `connector = 'files', format = "
                "'parquet'`,\nor `connector = 'python', function = 'module:name'` with a function "
                "that adds a batch to the table"
            )
        return (
            "lakehouse tables cannot be read yet: for a folder of Parquet files, write `connector "
            "= 'files', format = 'parquet'`;\nchanges of a table can come through Kafka: "
            "`connector = 'kafka'`"
        )
    if folded in _SERVERS:
        if role == "sink":
            return "write `connector = 'python', function = 'module:name'`, which gets each batch"
        return "bring its rows to Kafka (`connector = 'kafka'`) or to files (`connector = 'files'`)"
    return _INSTEAD.get(folded)


def of_ksqldb(options: Iterable[Option]) -> Option | None:
    """Return the first option that only ksqlDB has, or None."""
    return next((o for o in options if o.name.text.lower() in _KSQLDB), None)


def instead_of_ksqldb(options: Iterable[Option]) -> str:
    """Return the options of ksqlDB as options of a connector."""
    named = (o.value for o in options if o.name.text.lower() == "kafka_topic")
    return f"WITH (connector = 'kafka', topic = '{next(named, '…')}', …)"
