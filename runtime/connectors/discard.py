"""Nowhere: rows are computed, counted and thrown away, for benchmarks and load tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...contracts.sinks import SINKS
from .interface import Connector, InProcessSink, SinkRequest, UnownedSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class DiscardSink(UnownedSink):
    """Computes every column of each row, and counts the rows."""

    runs_users_code = False

    def __init__(self, asked: SinkRequest) -> None:
        self.name = asked.name
        self.upsert = asked.upsert

    @property
    def reads_batch_once(self) -> bool:
        """Of upserts it reads the latest row of each key, and the batch has more."""
        return self.upsert is None

    def write(self, batch: DataFrame, batch_id: int) -> int:
        # Not `batch.count()`: Spark then leaves out each column that the count does not need.
        return int(batch._jdf.queryExecution().toRdd().count())

    def kept_rows(self) -> None:
        """They are thrown away."""


class DiscardSinkRole(InProcessSink):
    """Where rows end that only their computation is wanted of."""

    promise = SINKS["discard"]
    writer = DiscardSink


class Discard(Connector):
    """Nowhere."""

    name = "discard"
    source = None
    table = None
    sink = DiscardSinkRole()
