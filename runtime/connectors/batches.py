"""Passes each batch of a relation to all of its sinks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..base.delays import pause
from .interface import Sink
from .spool import Spool
from .upserts import without_places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..accounting.batch_ledgers import Books


_REPORTED = 1000
"""A report of Spark's that is this many batches late is no longer waited for."""
_LONGEST = 1500
_LONGEST_LINE = 200


class BatchFailed(Exception):
    """The exception that tells Spark that a batch could not be written."""


class BatchWriter:
    """Called by Spark for each batch of one query.

    The sinks get it in the order of their declaration. It is computed once: kept while several
    sinks, or one that may read it again or in part, use it. A batch must be computed whole, since
    Spark commits state partition by partition. With a spool all sinks read what that has kept.

    When it raises, `failure` is the exception and `failed_sink` the sink at work, if any. What each
    sink has written is kept batch by batch until it is forgotten: how many rows, and for files how
    many and of how many bytes. When all sinks have written, `books` record the batch; `rows_in` are
    the rows that batches have read as far as the books know. Before each sink, `check` raises when
    the run may no longer write.
    """

    def __init__(
        self,
        query: str,
        sinks: Sequence[Sink],
        kernel: Any,
        spool: Spool | None = None,
        books: Books | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.query = query
        self._kernel = kernel
        self._spool = spool
        self.sinks = tuple(sinks)
        self.books = books
        self._check = check
        self.rows_in = 0
        self.rows_out = 0
        self._read: dict[int, int | None] = {}
        self._taken: dict[int, dict[str, Mapping[str, int]]] = {}
        self.failure: BaseException | None = None
        self.failed_sink: Sink | None = None

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        started = time.time()
        try:
            rows = self._write_all(batch, batch_id)
            self._kernel.EndedJobs.forget(batch._jdf)
            if self.books is not None:
                read = self.books.close(batch, batch_id, rows, started)
                self._read[batch_id] = read
                self._read.pop(batch_id - _REPORTED, None)
                self.rows_in += read or 0
        except BaseException as error:
            # Spark gets it only as text. In a query that is being stopped it checks whether the
            # text is about an interruption, with an expression that overflows the stack on long
            # ones.
            self.failure = error
            raise BatchFailed(_shortened(error)) from None

    def take_rows_read(self, batch: int) -> int | None:
        """The rows that a batch has read from sources, None if unknown; returned once."""
        return self._read.pop(batch, None)

    def taken_until(self, sink: str, batch: int) -> Sequence[Mapping[str, int]]:
        """What a sink has written in the batches up to this one that are not forgotten."""
        known = [sinks for number, sinks in sorted([*self._taken.items()]) if number <= batch]
        return [sinks[sink] for sinks in known if sink in sinks]

    def rows_until(self, batch: int) -> int:
        """The rows of the batches up to this one that are not forgotten, counted once."""
        known = [sinks for number, sinks in [*self._taken.items()] if number <= batch]
        return sum(max(one["rows"] for one in sinks.values()) for sinks in known)

    def forget(self, batch: int) -> None:
        """Drops the records of the batches up to this one."""
        for number in [number for number in [*self._taken] if number <= batch]:
            del self._taken[number]

    def _write_all(self, batch: DataFrame, batch_id: int) -> int | None:
        """Returns the rows of the batch if they were counted."""
        if len(self.sinks) == 1 and self.sinks[0].reads_batch_once:
            written = self._write(self.sinks[0], plain(self._kernel, batch), batch_id, 0)
            self.rows_out += written or 0
            return written
        if self._spool is not None:
            spooled, rows = self._spool.keep(plain(self._kernel, batch), batch_id)
            self._write_each(spooled, batch_id, rows)
            return rows
        kept = self._kernel.Batches.keep(batch._jdf)
        try:
            rows = int(kept.count())
            self._write_each(type(batch)(kept.frame(), batch.sparkSession), batch_id, rows)
        finally:
            kept.release()
        return rows

    def _write_each(self, batch: DataFrame, batch_id: int, rows: int) -> None:
        self.rows_out += rows
        for sink in self.sinks:
            self._write(sink, batch, batch_id, rows)

    def _write(self, sink: Sink, batch: DataFrame, batch_id: int, counted: int) -> int | None:
        self._check()
        self.failed_sink = sink
        own = without_places(batch) if sink.upsert is None else sink.upsert.latest(batch)
        pause("sink.write")
        rows = sink.write(own, batch_id)
        pause("sink.written")
        self.failed_sink = None
        taken = {"rows": counted if rows is None else rows, **sink.acknowledged()}
        self._taken.setdefault(batch_id, {})[sink.name] = taken
        return rows


def plain(kernel: Any, batch: DataFrame) -> DataFrame:
    """A batch of Spark's as a frame that supports any operation; see the kernel's `Batches`."""
    return type(batch)(kernel.Batches.plain(batch._jdf), batch.sparkSession)


def _shortened(error: BaseException) -> str:
    """An error in few characters, with all causes, from which Spark recognises an interruption."""
    lines = f"{type(error).__module__}.{type(error).__name__}: {error}".splitlines()
    told = [line[:_LONGEST_LINE] for line in lines if not line.startswith(("\t", "    "))]
    return "\n".join(told)[:_LONGEST]
