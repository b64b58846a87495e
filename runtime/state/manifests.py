"""The manifest of a barrier: what was durable, in which files, when it completed.

It is a note below `barriers/` of a generation, and is written last: a barrier without one does not
exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from ...contracts.json_records import instant_text
from ...contracts.notes.epoch import Cuts
from ...contracts.notes.ledger import Entry
from ..base.fields import Fields
from ..storage.notes import unseal


@dataclass(frozen=True, slots=True)
class OperatorState:
    """What a stateful operator keeps; `number` is Spark's."""

    id: str
    number: int
    kind: str
    rows: int
    bytes: int
    partitions: int


@dataclass(frozen=True, slots=True)
class QueryCut:
    """The position of a query: its last batch, and the rows in and out since the previous barrier.

    `acknowledged_ms` is how long after the request it finished the barrier's epoch.
    """

    batch: int
    watermark: datetime | None
    acknowledged_ms: int
    operators: tuple[OperatorState, ...]
    rows_in: int
    rows_out: int


@dataclass(frozen=True, slots=True)
class SinkCut:
    """The last batch that a sink has acknowledged; its rows since the previous barrier.

    Files and their bytes are None for a sink without files. `connector` and `upserts` say what a
    rollback would do to its output.
    """

    batch: int
    rows: int
    files: int | None = None
    bytes: int | None = None
    connector: str | None = None
    upserts: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """A completed barrier. Numbers only grow, across all generations of a state.

    `sources` has the position of each source in the source's own form, `files` the length and the
    CRC-32 of each file that a restore needs, by its path in the generation.
    """

    barrier: int
    epoch: int
    generation: str
    pipeline: str
    version: int
    requested_at: datetime
    completed_at: datetime
    queries: Mapping[str, QueryCut]
    sources: Cuts
    sinks: Mapping[str, SinkCut]
    ledger: Mapping[str, Mapping[str, Entry]]
    files: Mapping[str, tuple[int, str]]

    @property
    def duration_ms(self) -> int:
        """Milliseconds from the request until the manifest was written."""
        return round((self.completed_at - self.requested_at).total_seconds() * 1000)

    @property
    def operators(self) -> tuple[OperatorState, ...]:
        """The stateful operators of all queries."""
        return tuple(one for query in self.queries.values() for one in query.operators)

    @property
    def state_rows(self) -> int:
        return sum(operator.rows for operator in self.operators)

    @property
    def state_bytes(self) -> int:
        return sum(operator.bytes for operator in self.operators)

    @property
    def rows_in(self) -> int:
        """Rows read since the previous barrier, once for each query that reads them."""
        return sum(query.rows_in for query in self.queries.values())

    @property
    def rows_out(self) -> int:
        """Rows given to sinks since the previous barrier, once for each query."""
        return sum(query.rows_out for query in self.queries.values())

    def to_document(self) -> dict[str, Any]:
        """The manifest as JSON."""
        return {
            "barrier": self.barrier,
            "epoch": self.epoch,
            "generation": self.generation,
            "pipeline": self.pipeline,
            "version": self.version,
            "requested_at": instant_text(self.requested_at),
            "completed_at": instant_text(self.completed_at),
            "duration_ms": self.duration_ms,
            "queries": {id: _query_document(query) for id, query in self.queries.items()},
            "sources": {name: {"position": held} for name, held in self.sources.items()},
            "sinks": {name: asdict(sink) for name, sink in self.sinks.items()},
            "ledger": dict(self.ledger),
            "files": {path: list(sums) for path, sums in self.files.items()},
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Manifest:
        """The manifest in a document; raises ValueError for an invalid one."""
        found = Fields(document)
        return cls(
            barrier=found.whole("barrier", least=0),
            epoch=found.whole("epoch", least=0),
            generation=found.text("generation"),
            pipeline=found.text("pipeline"),
            version=found.whole("version"),
            requested_at=found.instant("requested_at"),
            completed_at=found.instant("completed_at"),
            queries=found.each("queries", _query_of),
            sources=found.each("sources", lambda one: one.value("position")),
            sinks=found.each("sinks", _sink_of),
            ledger=_ledger_of(found),
            files=found.files("files"),
        )


def load_manifest(text: str) -> Manifest:
    """The manifest in a note; raises ValueError, which says why, when it is damaged."""
    return Manifest.from_document(unseal(text))


def manifest_name(barrier: int) -> str:
    """The name of a barrier's file: names sort like numbers."""
    return f"{barrier:09d}.json"


def barrier_of(name: str) -> int | None:
    """The barrier whose file has this name, None for another file."""
    number = name.removesuffix(".json")
    return int(number) if number != name and number.isdigit() else None


def _query_document(query: QueryCut) -> dict[str, Any]:
    mark = query.watermark
    return {
        "batch": query.batch,
        "watermark": None if mark is None else instant_text(mark),
        "acknowledged_ms": query.acknowledged_ms,
        "operators": [asdict(operator) for operator in query.operators],
        "rows_in": query.rows_in,
        "rows_out": query.rows_out,
    }


def _query_of(found: Fields) -> QueryCut:
    return QueryCut(
        batch=found.whole("batch", least=-1),
        watermark=found.maybe("watermark", found.instant),
        acknowledged_ms=found.whole("acknowledged_ms"),
        operators=tuple(map(_operator_of, found.items("operators"))),
        rows_in=found.whole("rows_in"),
        rows_out=found.whole("rows_out"),
    )


def _operator_of(found: Fields) -> OperatorState:
    names = ("number", "rows", "bytes", "partitions")
    numbers = {name: found.whole(name) for name in names}
    return OperatorState(id=found.text("id"), kind=found.text("kind"), **numbers)


def _sink_of(found: Fields) -> SinkCut:
    return SinkCut(
        batch=found.whole("batch", least=-1),
        rows=found.whole("rows"),
        files=found.maybe("files", found.whole),
        bytes=found.maybe("bytes", found.whole),
        connector=found.maybe("connector", found.text),
        upserts=found.flag("upserts", default=False),
    )


def _ledger_of(found: Fields) -> Mapping[str, Mapping[str, Entry]]:
    """The ledger, by queries: entries of counts, each with its kind."""
    ledger = found.within("ledger")
    for query in found.mapping("ledger"):
        ledger.each(query, lambda entry: entry.text("kind"))
    return found.mapping("ledger")
