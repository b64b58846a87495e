"""What a run by steps hands on to a run of another version: its state as a savepoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...contracts.notes.epoch import EpochNote
from ...contracts.plan import Plan
from ...contracts.savepoint import Savepoint
from ..savepoints.format.model import now
from ..savepoints.take.written import StateWriter
from ..storage.disk import LocalDisk
from .state import checkpoint_of, committed

if TYPE_CHECKING:
    from ..storage.file_system import Storage

EPOCH = EpochNote(0, {}, opened_at="")
"""Where the sources of a run by steps begin: at its own first step."""


@dataclass(frozen=True, slots=True)
class HandedOn:
    """A savepoint in a folder, the rows that sinks have not been asked for, what tables hold."""

    savepoint: Savepoint
    folder: str
    rows: Mapping[str, Sequence[str]]
    tables: Mapping[str, str]


def saved(plan: Plan, storage: Storage, state: str, folder: Path) -> Savepoint:
    """Writes what the queries of a state keep below a folder; none of them may run."""
    writer = StateWriter(storage, LocalDisk(), str(folder), plan, lambda line: None)
    queries = {
        query.id: writer.query(query, checkpoint_of(state, query.id), committed(state, query.id))
        for query in plan.queries.values()
    }
    return Savepoint(
        name="steps",
        made_at=now(),
        pipeline=plan.pipeline,
        version=plan.version,
        barrier=0,
        epoch=0,
        generation="0001",
        state_id="",
        spark=storage.session.version,
        plan=plan,
        sources={},
        logs={},
        lineage=(),
        queries=queries,
    )
