"""A savepoint from a barrier, next to the running job.

The files of the barrier are first linked to a hidden place, where they stay even if the job removes
them. From these Spark reads the state, and writes it as Parquet. The manifest is written last, then
one rename publishes the savepoint: it is never visible half done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....contracts.notes.barrier import Manifest
from ....contracts.notes.generation import Generation
from ....contracts.notes.identity import StateIdentity
from ....contracts.notes.marks import open_marks
from ....contracts.notes.run_plan import RunPlan
from ....contracts.savepoint import Savepoint
from ...base.errors import NO_SUCH_BARRIER, SAVEPOINT_UNUSABLE, STATE_DAMAGED, RuntimeFault
from ...state.recovery import damage_lines
from ...state.recovery_check import Examination
from ...state.rollback import Kept as KeptFiles
from ...state.rollback import lineage_after
from ...state.state import current_generation
from ...storage.disk import Disk, LocalDisk
from ...storage.local_files import identity_file
from ...storage.notes import create_note, read_note_as
from ...storage.schema_paths import mend_schema_paths
from ..format.model import FOLDER, MANIFEST, check_free, new_name, now
from ..format.staging import draft, publish
from .written import StateWriter, file_sums

if TYPE_CHECKING:
    from ...storage.file_system import Storage

_TRIES = 3
_CHECKPOINT = "checkpoint"


@dataclass(frozen=True, slots=True)
class _Cut:
    """The origin of a savepoint: a generation and one of its barriers."""

    note: Generation
    examined: Examination
    manifest: Manifest
    ran: RunPlan


def create_savepoint(
    storage: Storage,
    disk: LocalDisk,
    state: str,
    *,
    name: str | None = None,
    barrier: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Savepoint:
    """Creates a savepoint from a completed barrier, the newest by default.

    `state` is the folder on the disk. Raises RuntimeFault when there is no such barrier, it
    is damaged, or a savepoint already has that name; nothing is then left over.
    """
    taken = disk.list(f"{state}/{FOLDER}")
    if name is not None:
        check_free(name, taken)
    cut = _cut(disk, state, barrier)
    name = name or new_name(cut.manifest.pipeline, cut.manifest.barrier, taken)
    with draft(disk, state, name) as made:
        cut, logs = _linked(disk, state, cut, made, fixed=barrier is not None)
        tell(f"barrier {cut.manifest.barrier} of {cut.manifest.completed_at:%Y-%m-%d %H:%M:%S} UTC")
        found = _Draft(storage, disk, made, cut, tell).savepoint(state, name, logs)
        disk.delete([f"{made}/{_CHECKPOINT}"])
        create_note(disk, f"{made}/{MANIFEST}", found.to_json())
        publish(disk, made, state, name)
    return found


def barrier_to_take(disk: LocalDisk, state: str, name: str | None, barrier: int | None) -> int:
    """The barrier of a savepoint to create, found without Spark; raises like `create_savepoint`."""
    if name is not None:
        check_free(name, disk.list(f"{state}/{FOLDER}"))
    return _cut(disk, state, barrier).manifest.barrier


def _cut(disk: Disk, state: str, barrier: int | None) -> _Cut:
    shown = state.removeprefix("file:")
    note = current_generation(disk, state)
    if note is None:
        raise RuntimeFault(NO_SUCH_BARRIER, f"{shown} has no barrier: no job has run on it")
    folder = f"{state}/generations/{note.number}"
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
    ran = read_note_as(disk, f"{folder}/plan.json", RunPlan.from_json)
    if ran is None:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"{shown} does not say which plan its job runs with",
            "start the job once with this version of streamc",
        )
    return _Cut(note, examined, found[-1], ran)


def _linked(disk: Disk, state: str, cut: _Cut, made: str, *, fixed: bool) -> tuple[_Cut, list[str]]:
    """Links the files of a barrier to the draft; of the next one if the job has removed it.

    Logs of sources go to their final place, all others to where the state is read from. Returns the
    cut, and the files of sources.
    """
    for attempt in range(_TRIES):
        kept = list(KeptFiles(cut.examined, cut.manifest, same_cuts=False).files())
        logs = [path for path in kept if path.startswith("sources/")]
        read = [path for path in kept if not path.startswith("sources/")]
        try:
            for folder, paths in ((made, logs), (f"{made}/{_CHECKPOINT}", read)):
                for path in paths:
                    disk.link(f"{cut.examined.folder}/{path}", f"{folder}/{path}")
            mend_schema_paths(disk, f"{made}/{_CHECKPOINT}", read)
            return cut, logs
        except FileNotFoundError:
            disk.delete([f"{made}/{name}" for name in disk.list(made)])
            if attempt == _TRIES - 1 or fixed:
                break
            cut = _cut(disk, state, None)
    raise RuntimeFault(
        NO_SUCH_BARRIER,
        f"barrier {cut.manifest.barrier} was removed by the job while it was copied",
        "take the savepoint again, of a newer barrier; RETAIN says how many are kept",
    )


class _Draft:
    """A savepoint under construction, from the linked files of a barrier."""

    def __init__(
        self, storage: Storage, disk: Disk, folder: str, cut: _Cut, tell: Callable[[str], None]
    ) -> None:
        self._storage = storage
        self._disk = disk
        self._folder = folder
        self._cut = cut
        self._state = StateWriter(storage, disk, folder, cut.ran.plan, tell)

    def savepoint(self, state: str, name: str, logs: Sequence[str]) -> Savepoint:
        """Writes the tables; returns the content of the manifest."""
        cut, manifest = self._cut, self._cut.manifest
        plan = cut.ran.plan
        known = read_note_as(self._disk, identity_file(state), StateIdentity.from_json)
        assert known is not None
        found = Savepoint(
            name=name,
            made_at=now(),
            pipeline=plan.pipeline,
            version=plan.version,
            barrier=manifest.barrier,
            epoch=manifest.epoch,
            generation=manifest.generation,
            state_id=known.id,
            spark=self._storage.session.version,
            plan=plan,
            spec=cut.ran.spec,
            sources=manifest.positions,
            logs=file_sums(self._disk, self._folder, logs),
            lineage=lineage_after(cut.note, manifest),
            queries={
                query.id: self._state.query(
                    query,
                    f"{self._folder}/{_CHECKPOINT}/queries/{query.id}",
                    manifest.queries[query.id].batch,
                )
                for query in plan.queries.values()
            },
        )
        return replace(found, marks=tuple(open_marks(cut.note.marks, found.watermarks)))
