"""Kafka: messages as rows, and rows as messages.

A message is read with its value, in one of the formats, as the declared columns; `raw` gives key
and value as they are. A row is written as a message whose value holds all its columns (as `text`,
its only column besides those of the key). Its key, when it is asked for, is the text of the key
column, or a JSON object of several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..base.errors import BAD_OPTION, FOREIGN_OUTPUT, RuntimeFault
from ..base.options import (
    choose,
    csv_options,
    instant_options,
    lenient_options,
    quoted,
    refuse_rest,
    spark_options,
)
from ..kernel.load import java_list, java_map, kernel_class
from ..state.state import SINK_NOTE
from ..storage.notes import read_note, write_note
from .malformed import apply_policy, side_columns
from .reading import FAIL, SEND, Declaration, Reading

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from ..state.state import State
    from ..storage.file_system import Storage
    from .upserts import Upsert

READ_FORMATS = ("json", "csv", "text", "raw")
WRITE_FORMATS = ("json", "csv", "text")
_METADATA = {name: name for name in ("key", "topic", "partition", "offset", "timestamp", "headers")}
_READ = "__read"
_SUBSCRIBE = {"topic": "subscribe", "topics": "subscribe", "topic_pattern": "subscribePattern"}


def read_kafka(spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
    """The messages of a source; begins with the earliest unless told otherwise."""
    options = dict(source.options)
    format = str(options.pop("format"))
    choose(format, dict.fromkeys(READ_FORMATS), source.owner, "format")
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
        written |= instant_options(source.owner, format, options)
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
    """The messages that `load` gives, as the source declares them; `written` says how csv is.

    A message without a value, or with a blank one, is no row.
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
    """Where a message lies: `topic-partition@offset`."""
    from pyspark.sql import functions as F

    return F.expr("concat(topic, '-', partition, '@', offset)")


class KafkaSink:
    """Sends each row as a message, at least once: a batch that comes again is sent again.

    With an upsert, what is sent last of a key counts.
    """

    reads_batch_once = False

    def __init__(
        self,
        name: str,
        options: dict[str, Any],
        state: State,
        key: tuple[str, ...],
        upsert: Upsert | None,
    ) -> None:
        """Takes its options out of `options`."""
        owner = f"sink `{name}`"
        self.name = name
        self._state = state
        self._key = key
        self.upsert = upsert
        self._format = str(options.pop("format"))
        choose(self._format, dict.fromkeys(WRITE_FORMATS), owner, "format")
        self._settings = {
            "kafka.bootstrap.servers": str(options.pop("bootstrap_servers")),
            "topic": str(options.pop("topic")),
            **spark_options(options),
        }
        self._csv = csv_options(options) if self._format == "csv" else {}
        refuse_rest(owner, options)

    def check(self) -> None:
        """Raises RuntimeFault when the state is a copy, and its original sends to the topic.

        A topic has no notes of its own; what the state was copied with says where it was sent to.
        """
        note = self._noted()
        if note.get("state") in (None, self._state.id) or note.get("topic") != self._target():
            return
        raise RuntimeFault(
            FOREIGN_OUTPUT,
            f"topic {self._settings['topic']} gets what sink `{self.name}` sends with the state "
            "that this one is a copy of: its messages would be there twice",
            "give the sink another topic",
        )

    def claim(self) -> None:
        """Notes where the messages go."""
        told = {"format": 1, "state": self._state.id, "topic": self._target()}
        if told != self._noted():
            write_note(self._state.storage, self._state.sink_file(self.name), told)

    def open(self) -> None:
        """Messages that were sent stay."""

    def _noted(self) -> dict[str, Any]:
        return read_note(self._state.storage, self._state.sink_file(self.name), SINK_NOTE) or {}

    def _target(self) -> list[str]:
        return [self._settings["kafka.bootstrap.servers"], self._settings["topic"]]

    def acknowledged(self) -> Mapping[str, int]:
        return {}

    def write(self, batch: DataFrame, batch_id: int) -> None:
        messages = batch.select(*as_message(batch, self._format, self._key, self._csv))
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
