"""Kafka: messages of topics as rows, and rows as messages of a topic."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import ClassVar

from ...contracts import formats
from ...contracts.readers import READERS
from ...contracts.sinks import SINKS
from ...dsl.ast import statements as st
from ...dsl.reports.diagnostics import Diagnostic
from ..model import types
from ..model.pipeline import Endpoint
from ..model.schema import Field, Schema
from .columns import not_in_csv, one_text, only_these, unwritable
from .instants import PARSING, check_instants
from .interface import Connector, Declares, SinkRole, SourceRole
from .options import DELIMITER, INTEGER, NULL_VALUE, TEXT, Concern, Kind, Option, format_of
from .spark_options import SparkOptions

_RAW = {"key": "BINARY", "value": "BINARY"}
"""The parts of a message, for the format ``raw``."""


def _are_offsets(text: str) -> bool:
    """Return whether a text gives a start offset for each partition of each topic."""
    if text in ("earliest", "latest"):
        return True
    try:
        topics = json.loads(text)
    except ValueError:
        return False
    return isinstance(topics, dict) and all(
        isinstance(partitions, dict)
        and all(p.isdigit() and type(n) is int and n >= -2 for p, n in partitions.items())
        for partitions in topics.values()
    )


_OFFSETS = Kind(
    "`earliest`, `latest`, or offsets by topic and partition as JSON",
    _are_offsets,
    "`{name}` can't be `{text}`",
    """write 'earliest', 'latest', or '{"topic": {"0": 42, "1": -2}}' (-2: the earliest)""",
)

_SERVERS = Option(
    "bootstrap_servers", Concern.SERVER, "brokers to begin with", kind=TEXT, required=True
)


class KafkaSource(SourceRole):
    """The messages of topics, one row each."""

    options = (
        _SERVERS,
        Option("topic", Concern.PLACE, "a topic", kind=TEXT, spark=("subscribe",)),
        Option(
            "topics",
            Concern.PLACE,
            "topics, separated by commas",
            kind=TEXT,
            spark=("subscribe",),
        ),
        Option(
            "topic_pattern",
            Concern.PLACE,
            "a regular expression that the names of the topics match",
            kind=TEXT,
            spark=("subscribepattern",),
        ),
        format_of(formats.MESSAGES_READ),
        Option(
            "starting_offsets",
            Concern.RUN,
            "where a source without a position begins",
            kind=_OFFSETS,
            default="earliest",
            spark=("startingoffsets",),
        ),
        Option(
            "max_offsets_per_trigger",
            Concern.RUN,
            "how many messages a batch reads at most",
            kind=INTEGER,
            spark=("maxoffsetspertrigger",),
        ),
        DELIMITER,
        NULL_VALUE,
        *PARSING,
    )
    one_of = ("topic", "topics", "topic_pattern")
    spark = SparkOptions(
        common=tuple(
            "failOnDataLoss minPartitions maxRecordsPerPartition groupIdPrefix "
            "minOffsetsPerTrigger maxTriggerDelay startingTimestamp startingOffsetsByTimestamp "
            "startingOffsetsByTimestampStrategy kafkaConsumer.pollTimeoutMs fetchOffset.numRetries "
            "fetchOffset.retryIntervalMs".split()
        ),
        of_format={},
        families=("kafka.",),
        neutral=tuple(
            "kafka. kafkaConsumer. groupIdPrefix failOnDataLoss minPartitions maxTriggerDelay "
            "minOffsetsPerTrigger fetchOffset".split()
        ),
        # The level decides which messages of transactions are read.
        telling=("kafka.isolation.level",),
        instead={"includeheaders": "declare a column with `METADATA FROM 'headers'`"},
    )
    reads_files = READERS["kafka"].reads_files
    metadata = READERS["kafka"].metadata
    may_be_malformed = True

    def check_columns(
        self, node: Declares, point: Endpoint, columns: tuple[Field, ...]
    ) -> Iterator[Diagnostic]:
        """Messages of JSON and CSV may have any."""
        yield from check_instants(node, point, columns)
        match point.option("format"):
            case "text":
                yield from one_text(node, columns, "message", "value")
            case "raw":
                what = "a message of format `raw`"
                yield from only_these(node, columns, _RAW, what, "CAST(value AS STRING)")


class KafkaSink(SinkRole):
    """A topic to which each row is sent as a message."""

    options = (
        _SERVERS,
        Option("topic", Concern.PLACE, "the topic", kind=TEXT, required=True),
        format_of(formats.MESSAGES_WRITTEN),
        DELIMITER,
    )
    one_of = ()
    spark = SparkOptions((), {}, ("kafka.",), (), (), {})
    promise = SINKS["kafka"]
    takes_changes = False
    sends_key = True

    def check_columns(
        self, node: st.CreateSink, point: Endpoint, key: tuple[str, ...], schema: Schema
    ) -> Iterator[Diagnostic]:
        match point.option("format"):
            case "text":
                rest = [f for f in schema if f.name not in key]
                if [f.type for f in rest] != [types.STRING]:
                    shown = ", ".join(f"{f.name} {f.type}" for f in rest) or "none"
                    yield unwritable(
                        node,
                        "a message of format `text` is one STRING column",
                        f"in addition to the key it has: {shown}",
                        "select only that column, or use the format `json`",
                    )
            case "csv":
                yield from not_in_csv(node, schema)


class Kafka(Connector):
    """Kafka."""

    name = "kafka"
    source = KafkaSource()
    table = None
    sink = KafkaSink()
    elsewhere: ClassVar[Mapping[str, str]] = {
        "upsert-kafka": "write `connector = 'kafka', mode = 'upsert', key = …`"
    }
