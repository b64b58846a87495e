"""Hands each batch of a relation to all of its sinks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .sinks import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class BatchWriter:
    """What Spark calls for each batch of one query.

    The sinks get it in the order of their declaration. It is computed once: kept while several
    sinks, or one that may read it again or in part, use it. A batch must be computed whole, since
    Spark commits state partition by partition.
    """

    def __init__(self, query: str, sinks: Sequence[Sink]) -> None:
        self.query = query
        self.sinks = tuple(sinks)
        self.rows_out = 0
        self.failure: tuple[Sink, BaseException] | None = None

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        if len(self.sinks) == 1 and self.sinks[0].reads_batch_once:
            self.rows_out += self._write(self.sinks[0], batch, batch_id) or 0
            return
        batch.persist()
        try:
            self.rows_out += batch.count()
            for sink in self.sinks:
                self._write(sink, batch, batch_id)
        finally:
            batch.unpersist()

    def _write(self, sink: Sink, batch: DataFrame, batch_id: int) -> int | None:
        try:
            return sink.write(batch, batch_id)
        except BaseException as error:
            # Spark reports it as text; the run wants the exception and the sink it came from.
            self.failure = (sink, error)
            raise
