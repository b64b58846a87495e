"""`streamc rollback`: what a rollback would undo, whether it is allowed, and performing it.

It works only on the state. The sinks are truncated when the job next starts and opens them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...contracts.notes.barrier import Manifest
from ...contracts.notes.generation import Generation
from ...contracts.sinks import SINKS
from ..base.errors import NO_SUCH_BARRIER, SINK_STAYS, RuntimeFault
from ..base.options import choose
from ..state.home import check_decided, settle
from ..state.integrity import Damage
from ..state.lease import ROLLBACK, Lease
from ..state.recovery_check import Examination
from ..state.rollback import clone, counts_up_to, same_meaning
from ..state.state import current_generation, sweep
from ..storage.disk import Disk, LocalDisk, RemoteDisk
from ..storage.local_files import local_state, state_identity
from ..storage.notes import read_note_as


@dataclass(frozen=True, slots=True)
class Undone:
    """What a sink received after the barrier, and what happens to it.

    `rows` counts up to the newest barrier; `stays` is whether the sink then has duplicate or extra
    rows.
    """

    sink: str
    rows: int
    told: str
    stays: bool


@dataclass(frozen=True, slots=True)
class Undo:
    """A possible rollback; `note` and `examined` are of the generation that has the barrier."""

    note: Generation
    examined: Examination
    barrier: Manifest
    epochs: int
    unfinished: int
    barriers: tuple[int, ...]
    sinks: tuple[Undone, ...]


class Rollback:
    """A state folder without a running job, about to be rolled back; see `opened`."""

    def __init__(
        self,
        disk: Disk,
        folder: str,
        shown: str,
        decision: str | None,
        tell: Callable[[str], None],
    ) -> None:
        """Raises RuntimeFault when the folder has no readable generation."""
        self._disk = disk
        self._folder = folder
        self._shown = shown
        self._decision = decision
        self._tell = tell
        sweep(disk, folder, local=isinstance(disk, LocalDisk))
        note = current_generation(disk, folder)
        if note is None:
            raise RuntimeFault(
                NO_SUCH_BARRIER, f"{shown} has no barrier: no job has run on it", None
            )
        self._note = note
        self._examined = Examination(disk, f"{folder}/generations/{note.number}")

    def check_copy(self) -> None:
        """Raises RuntimeFault when the folder is a copy and nothing says what it is to become."""
        local = isinstance(self._disk, LocalDisk)
        check_decided(self._disk, self._folder, self._shown, local=local, decision=self._decision)

    def undo(self, barrier: int) -> Undo:
        """What a rollback to a barrier would undo; raises RuntimeFault when it is impossible.

        The barrier may be one before the savepoint that the current generation begins with.
        """
        note, examined = self._holding(barrier)
        found = next((one for one in examined.manifests if one.barrier == barrier), None)
        if found is None:
            raise self._unknown(barrier)
        damage = examined.barrier_damage(found)
        if damage:
            raise self._damaged(barrier, note, damage)
        since = [] if note is self._note else self._examined.manifests
        later = [one for one in self._counted(note, examined) if one.barrier > barrier]
        later += since
        last = later[-1] if later else found
        newest = self._examined.epochs.last
        unfinished = max(newest - last.epoch, 0)
        return Undo(
            note=note,
            examined=examined,
            barrier=found,
            epochs=max(newest - found.epoch, 0),
            unfinished=unfinished,
            barriers=tuple(one.barrier for one in later),
            sinks=tuple(undone(last, later, unfinished)),
        )

    def perform(self, undo: Undo, *, same_cuts: bool) -> str:
        """Creates the generation that continues from the barrier; returns its number."""
        local = isinstance(self._disk, LocalDisk)
        settle(
            *(self._disk, self._folder, self._shown),
            local=local,
            decision=self._decision,
            tell=self._tell,
        )
        return clone(
            self._disk, self._folder, undo.note, undo.examined, undo.barrier, same_cuts=same_cuts
        )

    def _holding(self, barrier: int) -> tuple[Generation, Examination]:
        """The generation that has a barrier: the current one unless an earlier one does."""
        if barrier not in self._examined.generation.barriers:
            for note, examined in self._earlier():
                if any(one.barrier == barrier for one in self._counted(note, examined)):
                    return note, examined
        return self._note, self._examined

    def _earlier(self) -> Iterator[tuple[Generation, Examination]]:
        """The generations before a savepoint that are still there, newest first."""
        current = f"{self._folder}/generations/{self._note.number}"
        numbers = [n for n in self._disk.list(f"{self._folder}/generations") if n.isdigit()]
        for number in sorted(set(numbers) - {self._note.number}, reverse=True):
            folder = f"{self._folder}/generations/{number}"
            path = f"{folder}/generation.json"
            if same_meaning(self._disk, folder, current):
                note = read_note_as(self._disk, path, Generation.from_json)
                if note is not None:
                    yield note, Examination(self._disk, folder)

    def _counted(self, note: Generation, examined: Examination) -> list[Manifest]:
        """The barriers of a generation up to which its output counts."""
        if note is self._note:
            return examined.manifests
        return [one for one in examined.manifests if counts_up_to(self._note, note.number, one)]

    def _whole(self) -> list[int]:
        here = [(self._note, self._examined), *self._earlier()]
        found = {
            one.barrier
            for note, examined in here
            for one in self._counted(note, examined)
            if not examined.barrier_damage(one)
        }
        return sorted(found)

    def _unknown(self, barrier: int) -> RuntimeFault:
        held = self._examined.generation.barriers.get(barrier)
        message = f"{self._shown} has no barrier {barrier}"
        if held is not None:
            path = self._path(self._note, held)
            message = f"the manifest of barrier {barrier} is damaged: {path}"
        return RuntimeFault(NO_SUCH_BARRIER, message, self._choice())

    def _damaged(self, barrier: int, note: Generation, damage: Sequence[Damage]) -> RuntimeFault:
        first = damage[0]
        return RuntimeFault(
            NO_SUCH_BARRIER,
            f"barrier {barrier} needs {self._path(note, first.path)}: {first.reason}",
            self._choice(),
        )

    def _choice(self) -> str:
        whole = self._whole()
        if not whole:
            return "no barrier of this state is restorable"
        return f"these are restorable: {', '.join(map(str, whole))}"

    def _path(self, note: Generation, path: str) -> str:
        return f"{self._shown}/generations/{note.number}/{path}"


def check_sinks(undo: Undo, accepted: Sequence[str]) -> None:
    """Raises RuntimeFault for sinks that can't remove rows, unless that is accepted."""
    known = {one.sink for one in undo.sinks}
    for name in accepted:
        if name not in known:
            raise RuntimeFault(
                SINK_STAYS,
                f"--accept-repeats names `{name}`, which is not a sink of this state",
                f"its sinks are {', '.join(sorted(known))}",
            )
    staying = [one for one in undo.sinks if one.stays and one.sink not in accepted]
    if staying:
        raise RuntimeFault(
            SINK_STAYS,
            "\n     ".join(f"sink `{one.sink}` cannot be truncated: {one.told}" for one in staying),
            "pass "
            + " ".join(f"--accept-repeats {one.sink}" for one in staying)
            + " if that does no harm; with --same-cuts it gets the same batches again",
        )


@contextmanager
def opened(
    path: str, decision: str | None = None, tell: Callable[[str], None] = lambda line: None
) -> Iterator[Rollback]:
    """A state folder, held during a rollback; a local one is opened without a JVM.

    `decision` says what a copy is to become, see `home`. Raises RuntimeFault when the folder is not
    a state folder, or a job runs on it.
    """
    if urlsplit(path).scheme in ("", "file"):
        _, folder, _ = local_state(path)
        with _held(LocalDisk(), folder, path, local=True):
            yield Rollback(LocalDisk(), folder, path, decision, tell)
        return
    with _remote(path) as (disk, folder):
        state_identity(disk, folder, path)
        with _held(disk, folder, path, local=False):
            yield Rollback(disk, folder, path, decision, tell)


@contextmanager
def _held(disk: Disk, folder: str, shown: str, *, local: bool) -> Iterator[None]:
    lease = Lease(disk, folder, shown, local=local, work=ROLLBACK)
    try:
        yield
    finally:
        lease.release()


@contextmanager
def _remote(path: str) -> Iterator[tuple[Disk, str]]:
    """The file system of a path that only Spark's Hadoop client reaches, and the full path."""
    from ..kernel.build import kernel_jar
    from ..kernel.load import load_kernel
    from ..plan.retention import NO_BARRIERS
    from ..plan.settings import AS_FAST_AS_POSSIBLE, RunSettings
    from ..spark.session import run_session
    from ..storage.file_system import Storage

    jar = kernel_jar(lambda line: None)
    settings = RunSettings(path, AS_FAST_AS_POSSIBLE, "auto", {}, {})
    session, started, _ = run_session(settings, NO_BARRIERS, "rollback", None)
    try:
        storage = Storage(load_kernel(session, jar), session)
        yield RemoteDisk(storage), storage.qualified(path)
    finally:
        if started:
            session.stop()


def undone(last: Manifest, later: Sequence[Manifest], unfinished: int) -> Iterator[Undone]:
    """What happens to each sink when the barriers `later` and unfinished epochs are undone."""
    for name, sink in sorted(last.sinks.items()):
        rows = sum(one.sinks[name].rows for one in later if name in one.sinks)
        if sink.connector is None:
            yield Undone(name, rows, "its connector is not on record", rows > 0 or unfinished > 0)
            continue
        promise = choose(sink.connector, SINKS, f"sink `{name}`", "connector")
        rollback = promise.going_back(upserts=sink.upserts)
        stays = not rollback.restores and (rows > 0 or unfinished > 0)
        yield Undone(name, rows, rollback.effect, stays)
