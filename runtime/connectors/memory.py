"""The memory of a run, for programs that call a pipeline and look at what it gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...contracts.sinks import SINKS
from .interface import Connector, InProcessSink, SinkRequest, UnownedSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


class MemorySink(UnownedSink):
    """Keeps the rows of this run, in the order of the batches.

    With an upsert, a row takes the place of the one with its key, unless that is later.
    """

    runs_users_code = False

    def __init__(self, asked: SinkRequest) -> None:
        self.name = asked.name
        self.upsert = asked.upsert
        self._kept: dict[object, Row] = {}

    @property
    def reads_batch_once(self) -> bool:
        return self.upsert is None

    def open(self) -> None:
        self._kept.clear()

    def write(self, batch: DataFrame, batch_id: int) -> int:
        found = batch.collect()
        if self.upsert is None:
            self._kept.update(enumerate(found, start=len(self._kept)))
            return len(found)
        for row in found:
            key = self.upsert.key_of(row)
            known = self._kept.get(key)
            if known is None or self.upsert.replaces(row, known):
                self._kept[key] = row
        return len(found)

    def kept_rows(self) -> list[Row]:
        return list(self._kept.values())


class MemorySinkRole(InProcessSink):
    """Where a run keeps rows for whoever called it."""

    promise = SINKS["memory"]
    writer = MemorySink


class Memory(Connector):
    """The memory of a run."""

    name = "memory"
    source = None
    table = None
    sink = MemorySinkRole()
