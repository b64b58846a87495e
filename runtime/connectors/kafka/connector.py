"""Kafka: what the runtime has to know of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ....contracts.sinks import SINKS
from ...spark.packages import Package
from ...storage.file_system import Storage
from ..interface import Connector, Lack, ReadBefore, Replay, Role, SinkRole, SourceRole
from ..reading import Declaration, Reading
from .sink import KafkaSink
from .source import read_kafka

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PACKAGE = Package(
    "kafka",
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark.sql.kafka010.KafkaSourceProvider",
)
_FAILS = "spark.failOnDataLoss"


class _OfKafka(Role):
    """What its roles have in common."""

    def packages(self, options: Mapping[str, str]) -> tuple[Package, ...]:
        return (_PACKAGE,)


class KafkaReplay(Replay):
    """Messages are read again by their offsets, which don't say in which batches they came."""

    batches = None

    def lacks(self, source: ReadBefore) -> Iterator[Lack]:
        """Reading ends at a message that is gone, unless the source passes over it."""
        kept = source.options.get(_FAILS, "true")
        if kept.lower() != "true":
            yield Lack(
                f"source `{source.name}` skips messages that Kafka no longer has, "
                f"by `{_FAILS} = '{kept}'`, without counting them",
                f"leave `{_FAILS}` out for the backfill, which then ends if any are missing",
            )


class KafkaSourceRole(_OfKafka, SourceRole):
    """The messages of topics, each a row."""

    replay = KafkaReplay()

    def read(self, spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
        return read_kafka(spark, source)


class KafkaSinkRole(_OfKafka, SinkRole):
    """A topic that each row is sent to as a message."""

    promise = SINKS["kafka"]
    writer = KafkaSink
    distributions = ()


class Kafka(Connector):
    """Kafka."""

    name = "kafka"
    source = KafkaSourceRole()
    table = None
    sink = KafkaSinkRole()
