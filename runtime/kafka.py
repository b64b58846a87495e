"""Kafka: messages as rows, and rows as messages.

A message is read with its value, in one of the formats, as the declared columns; `raw` gives key
and value as they are. A row is written as a message whose value holds all its columns (as `text`,
its only column besides those of the key). Its key, when it is asked for, is the text of the key
column, or a JSON object of several.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .errors import BAD_OPTION, RuntimeFault
from .options import choose, quoted, refuse_rest, spark_options

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from .upserts import Upsert

READ_FORMATS = ("json", "csv", "text", "raw")
WRITE_FORMATS = ("json", "csv", "text")
_SUBSCRIBE = {"topic": "subscribe", "topics": "subscribe", "topic_pattern": "subscribePattern"}


def read_kafka(
    spark: SparkSession, name: str, schema: StructType, options: dict[str, Any]
) -> DataFrame:
    """The messages of a source as the columns of `schema`; takes its options out of `options`.

    Begins with the earliest message unless told otherwise. A value that is not of the format fails
    the query. A message without a value, a tombstone, has NULL in all columns of its value.
    """
    owner = f"source `{name}`"
    format = str(options.pop("format"))
    choose(format, dict.fromkeys(READ_FORMATS), owner, "format")
    settings = {
        "kafka.bootstrap.servers": str(options.pop("bootstrap_servers")),
        "startingOffsets": str(options.pop("starting_offsets", "earliest")),
        **_subscription(owner, options),
    }
    if (most := options.pop("max_offsets_per_trigger", None)) is not None:
        settings["maxOffsetsPerTrigger"] = str(most)
    settings.update(spark_options(options))
    columns = message_columns(format, schema, options)
    refuse_rest(owner, options)
    messages = spark.readStream.name(name).format("kafka").options(**settings).load()
    return messages.select(columns).select("row.*")


def _subscription(owner: str, options: dict[str, Any]) -> dict[str, str]:
    given = [(name, options.pop(name)) for name in _SUBSCRIBE if name in options]
    if len(given) != 1:
        raise RuntimeFault(
            BAD_OPTION, f"{owner} needs one of topic, topics, topic_pattern", "compile again"
        )
    return {_SUBSCRIBE[name]: str(value) for name, value in given}


def message_columns(format: str, schema: StructType, options: dict[str, Any]) -> Column:
    """The declared columns of a message, as the struct `row`."""
    from pyspark.sql import functions as F

    if format == "raw":
        return F.struct(*[F.col(quoted(field.name)) for field in schema.fields]).alias("row")
    value = F.col("value").cast("string")
    if format == "text":
        return F.struct(value.alias(schema.fields[0].name)).alias("row")
    if format == "json":
        return F.from_json(value, schema, {"mode": "FAILFAST"}).alias("row")
    return F.from_csv(value, schema.toDDL(), _csv(options, "FAILFAST")).alias("row")


def _csv(options: dict[str, Any], mode: str | None = None) -> dict[str, str]:
    # A quote within quotes is doubled, as everywhere but in Spark.
    found = {"escape": '"'}
    if mode is not None:
        found["mode"] = mode
    if (delimiter := options.pop("delimiter", None)) is not None:
        found["sep"] = str(delimiter)
    if (null := options.pop("null_value", None)) is not None:
        found["nullValue"] = str(null)
    return found


class KafkaSink:
    """Sends each row as a message, at least once: a batch that comes again is sent again.

    With an upsert, a batch sends the latest row of each key only, and what is sent last counts.
    """

    reads_batch_once = False

    def __init__(
        self, name: str, options: dict[str, Any], key: tuple[str, ...], upsert: Upsert | None
    ) -> None:
        """Takes its options out of `options`."""
        owner = f"sink `{name}`"
        self.name = name
        self._key = key
        self._upsert = upsert
        self._format = str(options.pop("format"))
        choose(self._format, dict.fromkeys(WRITE_FORMATS), owner, "format")
        self._settings = {
            "kafka.bootstrap.servers": str(options.pop("bootstrap_servers")),
            "topic": str(options.pop("topic")),
            **spark_options(options),
        }
        self._csv = _csv(options) if self._format == "csv" else {}
        refuse_rest(owner, options)

    def open(self) -> None:
        """A topic needs no preparation."""

    def write(self, batch: DataFrame, batch_id: int) -> None:
        rows = self._upsert.latest(batch) if self._upsert else batch
        messages = rows.select(*as_message(rows, self._format, self._key, self._csv))
        messages.write.format("kafka").options(**self._settings).save()


def as_message(
    rows: DataFrame, format: str, key: tuple[str, ...], csv: Mapping[str, str]
) -> tuple[Column, ...]:
    """The columns `key`, if there is one, and `value` of the messages that rows become."""
    from pyspark.sql import functions as F

    row = F.struct(*[F.col(quoted(name)) for name in rows.columns])
    if format == "text":
        (text,) = (name for name in rows.columns if name not in key)
        value = F.col(quoted(text))
    else:
        value = F.to_csv(row, dict(csv)) if format == "csv" else F.to_json(row)
    columns = [F.col(quoted(name)) for name in key]
    if not columns:
        return (value.alias("value"),)
    if len(columns) == 1:
        return columns[0].cast("string").alias("key"), value.alias("value")
    # A column that is NULL keeps its place: the key of a message is compared as bytes.
    whole = F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
    return whole.alias("key"), value.alias("value")
