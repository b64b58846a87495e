"""The manifest of a barrier: what was durable, in which files, when it completed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from ..json_records import WRITTEN, Malformed, Record
from ..records import dataclass
from .epoch import Cuts
from .ledger import Entry


@dataclass(frozen=True, slots=True)
class OperatorState(Record):
    """What a stateful operator keeps; ``number`` is Spark's."""

    id: str
    number: int
    kind: str
    rows: int
    bytes: int
    partitions: int


@dataclass(frozen=True, slots=True)
class QueryCut(Record):
    """The position of a query: its last batch, and the rows in and out since the previous barrier.

    ``acknowledged_ms`` is how long after the request it finished the barrier's epoch.
    """

    batch: int
    watermark: datetime | None
    acknowledged_ms: int
    operators: tuple[OperatorState, ...]
    rows_in: int
    rows_out: int

    def check(self) -> None:
        """Raise ``Malformed`` for an impossible batch number."""
        _check_least(-1, self.batch, "batch")


@dataclass(frozen=True, slots=True)
class SourceCut(Record):
    """The position of a source in the source's own form, None at its beginning."""

    position: Any


@dataclass(frozen=True, slots=True)
class SinkCut(Record):
    """The last batch that a sink has acknowledged; its rows since the previous barrier.

    Files and their bytes are None for a sink without files. ``connector`` and ``upserts`` say what
    a rollback would do to its output.
    """

    batch: int
    rows: int
    files: int | None = field(default=None, metadata=WRITTEN)
    bytes: int | None = field(default=None, metadata=WRITTEN)
    connector: str | None = field(default=None, metadata=WRITTEN)
    upserts: bool = field(default=False, metadata=WRITTEN)

    def check(self) -> None:
        """Raise ``Malformed`` for an impossible batch number."""
        _check_least(-1, self.batch, "batch")


@dataclass(frozen=True, slots=True)
class Manifest(Record):
    """A completed barrier. Numbers only grow, across all generations of a state.

    ``duration_ms`` is from the request until the manifest was written. ``ledger`` has entries by
    queries and the names of their parts, ``files`` the length and the CRC-32 of each file that a
    restore needs, by its path in the generation.
    """

    barrier: int
    epoch: int
    generation: str
    pipeline: str
    version: int
    requested_at: datetime
    completed_at: datetime
    duration_ms: int
    queries: Mapping[str, QueryCut]
    sources: Mapping[str, SourceCut]
    sinks: Mapping[str, SinkCut]
    ledger: Mapping[str, Mapping[str, Entry]]
    files: Mapping[str, tuple[int, str]]

    def check(self) -> None:
        """Raise ``Malformed`` for impossible numbers and files, and entries without a kind."""
        _check_least(0, self.barrier, "barrier")
        _check_least(0, self.epoch, "epoch")
        for query, entries in self.ledger.items():
            for name, entry in entries.items():
                if not isinstance(entry.get("kind"), str):
                    raise Malformed("is not a text", "ledger", query, name, "kind")
        if any(length < 0 for length, _ in self.files.values()):
            raise Malformed("is not a list of files", "files")

    @property
    def positions(self) -> Cuts:
        """The position of each source."""
        return {name: cut.position for name, cut in self.sources.items()}

    @property
    def operators(self) -> tuple[OperatorState, ...]:
        """The stateful operators of all queries."""
        return tuple(one for query in self.queries.values() for one in query.operators)

    @property
    def state_rows(self) -> int:
        """The rows of state of all operators."""
        return sum(operator.rows for operator in self.operators)

    @property
    def state_bytes(self) -> int:
        """The bytes of state of all operators."""
        return sum(operator.bytes for operator in self.operators)

    @property
    def rows_in(self) -> int:
        """Rows read since the previous barrier, once for each query that reads them."""
        return sum(query.rows_in for query in self.queries.values())

    @property
    def rows_out(self) -> int:
        """Rows given to sinks since the previous barrier, once for each query."""
        return sum(query.rows_out for query in self.queries.values())


def _check_least(least: int, number: int, name: str) -> None:
    if number < least:
        raise Malformed(f"is not a number of at least {least}", name)
