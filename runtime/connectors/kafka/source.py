"""Messages of Kafka as rows.

A message is read with its value, in one of the formats, as the declared columns; `raw` gives key
and value as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ....contracts.formats import MESSAGES_READ
from ....contracts.readers import READERS
from ...base.errors import BAD_OPTION, RuntimeFault
from ...base.options import (
    choose,
    csv_options,
    instant_options,
    lenient_options,
    quoted,
    refuse_rest,
    spark_options,
)
from ...kernel.load import java_list, java_map, kernel_class
from ..instants import check_instants
from ..malformed import apply_policy, side_columns
from ..reading import FAIL, SEND, Declaration, Reading

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_METADATA = {name: name for name in READERS["kafka"].metadata}
_READ = "__read"
_SUBSCRIBE = {"topic": "subscribe", "topics": "subscribe", "topic_pattern": "subscribePattern"}


def read_kafka(spark: SparkSession, source: Declaration) -> Reading:
    """The messages of a source, starting with the earliest by default."""
    options = dict(source.options)
    format = str(options.pop("format"))
    choose(format, dict.fromkeys(MESSAGES_READ), source.owner, "format")
    settings = {
        "kafka.bootstrap.servers": str(options.pop("bootstrap_servers")),
        "startingOffsets": str(options.pop("starting_offsets", "earliest")),
        **_subscription(source.owner, options),
    }
    if "headers" in source.metadata.values():
        settings["includeHeaders"] = "true"
    if (most := options.pop("max_offsets_per_trigger", None)) is not None:
        settings["maxOffsetsPerTrigger"] = str(most)
    settings.update(spark_options(options))
    written = csv_options(options) if format == "csv" else {}
    if format in ("json", "csv"):
        written |= lenient_options(format, options, {})
        written |= instant_options(source.owner, format, options, {})
        check_instants(spark, source.owner, written)
    refuse_rest(source.owner, options)

    def load() -> DataFrame:
        return spark.readStream.name(source.name).format("kafka").options(**settings).load()

    return read_messages(load, source, format, written)


def _subscription(owner: str, options: dict[str, Any]) -> dict[str, str]:
    given = [(name, options.pop(name)) for name in _SUBSCRIBE if name in options]
    if len(given) != 1:
        raise RuntimeFault(
            BAD_OPTION, f"{owner} needs one of topic, topics, topic_pattern", "compile again"
        )
    return {_SUBSCRIBE[name]: str(value) for name, value in given}


def read_messages(
    load: Callable[[], DataFrame], source: Declaration, format: str, written: Mapping[str, str]
) -> Reading:
    """The messages of `load` with the source's columns; `written` is the layout of csv.

    A message without a value, or with a blank one, is not a row.
    """
    from pyspark.sql import functions as F

    known = [
        F.col(choose(key, _METADATA, source.owner, "metadata")).alias(name)
        for name, key in source.metadata.items()
    ]
    names = [quoted(field.name) for field in source.columns.fields]
    if format == "raw":
        reading = apply_policy(source, load(), _place())
        return Reading(reading.rows.select(*map(F.col, names), *known), reading.malformed)
    fails = source.malformed_rows == FAIL
    messages = load().withColumn(_READ, _read(source, format, written, fails))
    good = messages.where(f"{_READ}.reason IS NULL AND {_READ}.row IS NOT NULL")
    columns = [F.col(f"{_READ}.row.{name}") for name in names]
    rows = good.select(*columns, *known)
    if source.malformed_rows != SEND:
        return Reading(rows)

    def rejected() -> DataFrame:
        found = load().withColumn(_READ, _read(source, format, written, fails))
        raw, reason = F.col("value").cast("string"), F.col(f"{_READ}.reason")
        bad = found.where(f"{_READ}.reason IS NOT NULL")
        return bad.select(*side_columns(source.name, raw, reason, _place()))

    return Reading(rows, rejected)


def _read(source: Declaration, format: str, written: Mapping[str, str], fails: bool) -> Column:
    """The kernel's reading of a message: a struct of `row` and `reason`."""
    from pyspark.sql import Column, SparkSession
    from pyspark.sql import functions as F

    spark = SparkSession.active()
    jvm: Any = spark._jvm
    read = kernel_class(jvm, "Messages").read(
        F.col("value")._jc,
        _place()._jc,
        format,
        source.columns.json(),
        java_map(jvm, written),
        java_list(jvm, source.required()),
        source.name,
        fails,
    )
    return Column(read)


def _place() -> Column:
    """The location of a message: `topic-partition@offset`."""
    from pyspark.sql import functions as F

    return F.expr("concat(topic, '-', partition, '@', offset)")
