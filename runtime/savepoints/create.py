"""A savepoint from a barrier, beside the job that runs on.

The files of the barrier are linked to a hidden place first: what the job takes away meanwhile stays
there. From these Spark reads the state, and writes it as Parquet. The manifest comes last, then one
rename makes the savepoint: half of one is never seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..checkpoints import read_offsets
from ..disk import Disk
from ..errors import NO_SUCH_BARRIER, SAVEPOINT_UNUSABLE, STATE_DAMAGED, RuntimeFault
from ..manifests import Manifest
from ..notes import create_note, read_note
from ..plan import Query, Use, read_plan
from ..recovery import damage_lines
from ..rollback import Kept as KeptFiles
from ..rollback import lineage_after
from ..schema_paths import mend_schema_paths
from ..state import current_generation
from ..verdicts import Examination
from .model import (
    FOLDER,
    MANIFEST,
    SavedOperator,
    SavedQuery,
    Savepoint,
    Table,
    check_name,
    new_name,
    now,
    savepoint_folder,
    savepoint_names,
)
from .tables import read_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..storage import Storage

_TRIES = 3
_CHECKPOINT = "checkpoint"


@dataclass(frozen=True, slots=True)
class _Cut:
    """What a savepoint is made of: a generation and one of its barriers."""

    note: dict[str, Any]
    examined: Examination
    manifest: Manifest
    plan: dict[str, Any]


def create_savepoint(
    storage: Storage,
    disk: Disk,
    state: str,
    *,
    name: str | None = None,
    barrier: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Savepoint:
    """Makes a savepoint from a completed barrier, the newest by default.

    `state` is the folder as `disk` takes it. Raises RuntimeFault when there is no such barrier, it
    is damaged, or a savepoint has that name already; nothing is left behind then.
    """
    taken = savepoint_names(disk, state)
    if name is not None and check_name(name) in taken:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"there is a savepoint `{name}` already",
            "give another name, or delete it: `streamc savepoint delete`",
        )
    cut = _cut(disk, state, barrier)
    name = name or new_name(cut.manifest.pipeline, cut.manifest.barrier, taken)
    draft = f"{state}/{FOLDER}/.{name}.tmp"
    disk.delete([draft])
    try:
        cut, logs = _linked(disk, state, cut, draft, fixed=barrier is not None)
        tell(f"barrier {cut.manifest.barrier} of {cut.manifest.completed_at:%Y-%m-%d %H:%M:%S} UTC")
        found = _Draft(storage, disk, draft, cut, tell).savepoint(state, name, logs)
        disk.delete([f"{draft}/{_CHECKPOINT}"])
        create_note(disk, f"{draft}/{MANIFEST}", found.to_document())
        disk.rename(draft, savepoint_folder(state, name))
    except BaseException:
        disk.delete([draft])
        raise
    return found


def _cut(disk: Disk, state: str, barrier: int | None) -> _Cut:
    shown = state.removeprefix("file:")
    note = current_generation(disk, state)
    if note is None:
        raise RuntimeFault(NO_SUCH_BARRIER, f"{shown} has no barrier: no job has run on it")
    folder = f"{state}/generations/{note['generation']}"
    examined = Examination(disk, folder)
    found = [one for one in examined.manifests if barrier in (None, one.barrier)]
    if not found:
        known = ", ".join(str(one.barrier) for one in examined.manifests) or "none"
        what = "no barrier yet" if barrier is None else f"no barrier {barrier}"
        raise RuntimeFault(NO_SUCH_BARRIER, f"{shown} has {what}", f"there are: {known}")
    damage = examined.barrier_damage(found[-1])
    if damage:
        lines = "\n     ".join(damage_lines(folder.removeprefix("file:"), damage))
        raise RuntimeFault(STATE_DAMAGED, lines, "name an older barrier with `--barrier`")
    plan = read_note(disk, f"{folder}/plan.json")
    if plan is None:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"{shown} does not say which plan its job runs with",
            "start the job once with this version of streamc",
        )
    return _Cut(note, examined, found[-1], plan)


def _linked(
    disk: Disk, state: str, cut: _Cut, draft: str, *, fixed: bool
) -> tuple[_Cut, list[str]]:
    """Links the files of a barrier to the draft; of the next one if the job has let go of it.

    What sources have seen goes where it stays, all else to where the state is read from. Returns
    the cut that it is of, and the files of sources.
    """
    for attempt in range(_TRIES):
        kept = list(KeptFiles(cut.examined, cut.manifest, same_cuts=False).files())
        logs = [path for path in kept if path.startswith("sources/")]
        read = [path for path in kept if not path.startswith("sources/")]
        try:
            for folder, paths in ((draft, logs), (f"{draft}/{_CHECKPOINT}", read)):
                for path in paths:
                    disk.link(f"{cut.examined.folder}/{path}", f"{folder}/{path}")
            mend_schema_paths(disk, f"{draft}/{_CHECKPOINT}", read)
            return cut, logs
        except FileNotFoundError:
            disk.delete([draft])
            if attempt == _TRIES - 1 or fixed:
                break
            cut = _cut(disk, state, None)
    raise RuntimeFault(
        NO_SUCH_BARRIER,
        f"barrier {cut.manifest.barrier} was given up by the job while it was copied",
        "take the savepoint again, of a newer barrier; RETAIN says how many are kept",
    )


class _Draft:
    """A savepoint that is being made, from the linked files of a barrier."""

    def __init__(
        self, storage: Storage, disk: Disk, folder: str, cut: _Cut, tell: Callable[[str], None]
    ) -> None:
        self._storage = storage
        self._disk = disk
        self._folder = folder
        self._cut = cut
        self._tell = tell

    def savepoint(self, state: str, name: str, logs: Sequence[str]) -> Savepoint:
        """Writes the tables; what the manifest says of them and of all else."""
        cut, manifest = self._cut, self._cut.manifest
        plan = read_plan(cut.plan)
        known = read_note(self._disk, f"{state}/state.json") or {}
        return Savepoint(
            name=name,
            made_at=now(),
            pipeline=plan.pipeline,
            version=plan.version,
            barrier=manifest.barrier,
            epoch=manifest.epoch,
            generation=manifest.generation,
            state_id=str(known.get("id")),
            spark=self._storage.session.version,
            plan=cut.plan,
            sources=manifest.sources,
            logs=self._sums(logs),
            lineage=tuple(lineage_after(cut.note, manifest)),
            queries={query.id: self._query(query) for query in plan.queries},
        )

    def _query(self, query: Query) -> SavedQuery:
        checkpoint = f"{self._folder}/{_CHECKPOINT}/queries/{query.id}"
        batch = self._cut.manifest.queries[query.id].batch
        offsets = self._disk.read(f"{checkpoint}/offsets/{batch}")
        commit = self._disk.read(f"{checkpoint}/commits/{batch}")
        if offsets is None or commit is None:
            raise FileNotFoundError(f"{checkpoint}: batch {batch}")
        operators = {
            use.operator.id: self._operator(query, checkpoint, number, use)
            for number, use in enumerate(query.uses)
        }
        return SavedQuery(
            batch=batch,
            watermark_ms=read_offsets(offsets).watermark_ms,
            next_watermark_ms=int(json.loads(commit.split("\n", 1)[1])["nextBatchWatermarkMs"]),
            sinks=query.sinks,
            operators=operators,
        )

    def _operator(self, query: Query, checkpoint: str, number: int, use: Use) -> SavedOperator:
        begun, id = now(), use.operator.id
        kept = read_tables(self._storage.session, checkpoint, number, use)
        tables = {
            name: self._write(f"state/{query.id}/{id}/{name}", name, frame)
            for name, frame in kept.tables.items()
        }
        saved = SavedOperator(id, use.operator.kind, kept.keys, kept.cells, tables)
        took = (now() - begun).total_seconds()
        self._tell(f"{query.id}: {id}: {saved.rows} rows, {saved.bytes} bytes, {took:.1f} s")
        return saved

    def _write(self, path: str, name: str, frame: DataFrame) -> Table:
        folder = f"{self._folder}/{path}"
        written = self._storage.write(frame, "parquet", {}, folder)
        self._disk.delete([f"{folder}/_SUCCESS"])
        # One without rows has the types of the columns all the same.
        files = [f"{path}/{one}" for one in self._disk.list(folder) if one.startswith("part-")]
        columns = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
        return Table(name, columns, written.rows, self._sums(files))

    def _sums(self, paths: Sequence[str]) -> dict[str, tuple[int, str]]:
        """The length and the checksum of files of the draft."""
        found = self._disk.sums(f"{self._folder}/{path}" for path in paths)
        held = {path: found[f"{self._folder}/{path}"] for path in paths}
        return {path: (one.bytes, one.crc32) for path, one in held.items()}
