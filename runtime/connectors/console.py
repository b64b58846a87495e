"""The screen: the first rows of each batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...contracts.sinks import SINKS
from .interface import Connector, InProcessSink, SinkRequest, UnownedSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS = 20


class ConsoleSink(UnownedSink):
    """Prints the first rows of every batch that has any."""

    reads_batch_once = False
    runs_users_code = False

    def __init__(self, asked: SinkRequest) -> None:
        self.name = asked.name
        self.upsert = asked.upsert
        self._rows = int(asked.options.pop("rows", _ROWS))
        self._show = asked.show

    def write(self, batch: DataFrame, batch_id: int) -> None:
        if not batch.isEmpty():
            table = batch._show_string(self._rows, truncate=False)  # type: ignore[operator]
            self._show(f"{self.name}, batch {batch_id}:\n{table.rstrip()}")

    def kept_rows(self) -> None:
        """What is printed is not kept."""


class ConsoleSinkRole(InProcessSink):
    """Where a job prints rows."""

    promise = SINKS["console"]
    writer = ConsoleSink


class Console(Connector):
    """The screen."""

    name = "console"
    source = None
    table = None
    sink = ConsoleSinkRole()
