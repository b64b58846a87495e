"""Rows as messages of Kafka.

The value of a message holds all columns of its row (as `text`, its only column besides those of the
key). Its key, when it is asked for, is the text of the key column, or a JSON object of several.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....contracts.formats import MESSAGES_WRITTEN
from ...base.errors import FOREIGN_OUTPUT, RuntimeFault
from ...base.options import KEPT_SPACES, choose, csv_options, quoted, spark_options
from ...state.state import SINK_NOTE
from ...storage.notes import read_note, write_note
from ..interface import Sink, SinkRequest

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class KafkaSink(Sink):
    """Sends each row as a message, at least once: a repeated batch is sent again.

    With an upsert, the last message of a key counts.
    """

    reads_batch_once = False
    runs_users_code = False

    def __init__(self, asked: SinkRequest) -> None:
        options = asked.options
        self.name = asked.name
        self.upsert = asked.upsert
        self._state = asked.state
        self._key = asked.key
        self._format = str(options.pop("format"))
        choose(self._format, dict.fromkeys(MESSAGES_WRITTEN), asked.owner, "format")
        self._settings = {
            "kafka.bootstrap.servers": str(options.pop("bootstrap_servers")),
            "topic": str(options.pop("topic")),
            **spark_options(options),
        }
        self._csv = csv_options(options) if self._format == "csv" else {}

    def check(self) -> None:
        """Raises RuntimeFault when the state is a copy, and its original sends to the topic.

        A topic has no notes of its own; the copied state's note says where it was sent.
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
        """Sent messages stay."""

    def _noted(self) -> dict[str, Any]:
        return read_note(self._state.storage, self._state.sink_file(self.name), SINK_NOTE) or {}

    def _target(self) -> list[str]:
        return [self._settings["kafka.bootstrap.servers"], self._settings["topic"]]

    def acknowledged(self) -> Mapping[str, int]:
        return {}

    def kept_rows(self) -> None:
        """They are in the topic."""

    def write(self, batch: DataFrame, batch_id: int) -> None:
        messages = batch.select(*as_message(batch, self._format, self._key, self._csv))
        messages.write.format("kafka").options(**self._settings).save()


def as_message(
    rows: DataFrame, format: str, key: tuple[str, ...], csv: Mapping[str, str]
) -> tuple[Column, ...]:
    """The columns `key`, if any, and `value` of the messages for rows."""
    from pyspark.sql import functions as F

    row = F.struct(*[F.col(quoted(name)) for name in rows.columns])
    if format == "text":
        (text,) = (name for name in rows.columns if name not in key)
        value = F.col(quoted(text))
    else:
        value = F.to_csv(row, {**KEPT_SPACES, **csv}) if format == "csv" else F.to_json(row)
    columns = [F.col(quoted(name)) for name in key]
    if not columns:
        return (value.alias("value"),)
    if len(columns) == 1:
        return columns[0].cast("string").alias("key"), value.alias("value")
    # A NULL column is kept: the key of a message is compared as bytes.
    whole = F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
    return whole.alias("key"), value.alias("value")
