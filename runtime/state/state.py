"""The state folder of a pipeline: its identity, who runs on it, and its layout.

<state>/
  state.json                       the folder's own id, and its pipeline
  home.json                        its location and its runs, which reveal a copy
  lease.json                       who runs on it; plus `lock` on a local path
  control/                         the run's status, requests to it, and its answers
  logs/                            Spark's log, and the full text of each failure
  generations/0001/                everything of one line of batches
    generation.json                written last: the origin of the generation
    epochs/<epoch>.json            the cut of every source
    queries/<id>/                  Spark's checkpoint of one query
    sources/<source>/              the log of a source, one for all queries
    barriers/<barrier>.json        a completed checkpoint of the pipeline
    sinks/<sink>.json              where a sink writes
    spool/<id>/                    batches of a query whose rows can be computed only once
    meaning/<id>.json              what the state of one query means
    plan.json                      the last run's plan, and its spec
    rescaling.json                 what making it cost, if it began with other partitions
  savepoints/<name>/               see `savepoints`

A generation continues another one from one of its barriers. The newest complete one is current.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ...contracts.notes.generation import CountedGeneration, Generation, Origin
from ...contracts.notes.identity import StateIdentity
from ...contracts.notes.marks import Mark
from ...contracts.redaction import scrub
from ..base.errors import FOREIGN_STATE, RuntimeFault
from ..storage.disk import Disk, LocalDisk, RemoteDisk
from ..storage.file_system import Files, Storage
from ..storage.local_files import LocalFiles, identity_file
from ..storage.notes import create_note, read_note_as, unreadable
from .home import begin_turn, settle
from .lease import Lease
from .mailbox import Mailbox

FIRST = "0001"
SINK_NOTE = "delete it: the sink rewrites it"
"""What to do about a damaged note of a sink."""
_NOTE_HELP = (
    "it says which batches count, and nothing else does: restore it from a backup, or start over "
    "with another `--state` and other outputs"
)


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A generation whose batches belong to the state, up to the last one; None is open."""

    generation: str
    last_batch: int | None

    def holds(self, batch: int) -> bool:
        """Whether a batch of the generation counts."""
        return self.last_batch is None or batch <= self.last_batch


class GenerationFolder(ABC):
    """The layout of a generation, current or under construction."""

    storage: Storage

    @property
    @abstractmethod
    def generation_folder(self) -> str: ...

    def checkpoint(self, query: str) -> str:
        """The folder in which Spark keeps a query's progress and state."""
        return f"{self.generation_folder}/queries/{query}"

    def meaning_file(self, query: str) -> str:
        """The file that records what the state of a query means."""
        return f"{self.generation_folder}/meaning/{query}.json"


class State(GenerationFolder):
    """An opened state folder; close it to let another process in.

    `path` is the folder in the form of `files`, which needs no JVM on a local path.
    """

    def __init__(
        self,
        storage: Storage,
        folder: str,
        pipeline: str,
        *,
        decision: str | None = None,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Opens the folder, creating it if necessary.

        Raises RuntimeFault when another process runs on it, when it is another pipeline's, and when
        it is a copy and `decision` does not say what it is to become, see `home`.
        """
        self.storage = storage
        self.folder = storage.qualified(folder)
        local = storage.local_path(folder)
        self.files: Files = storage if local is None else LocalFiles()
        self.path = self.folder if local is None else str(local)
        self.lease = Lease(
            self.files,
            self.path,
            self.shown,
            local=local is not None,
            processes=[storage.jvm_process()],
        )
        try:
            if local is not None:
                storage.keep_private(local)
            self._identify(pipeline)
            self.home = settle(
                self.files,
                self.path,
                self.shown,
                local=local is not None,
                decision=decision,
                tell=tell,
            )
            # A copy may have a new id of its own.
            self.id = self._identify(pipeline)
            self.mailbox = Mailbox(self.files, self.path, self.lease.holder.owner)
            sweep(storage, self.folder, local=local is not None)
            self.note = self._newest()
        except BaseException:
            self.close()
            raise

    @property
    def shown(self) -> str:
        """The folder as the user knows it."""
        return self.folder.removeprefix("file:")

    @property
    def generation(self) -> str:
        """The number of the current generation, four digits."""
        return self.note.number

    @property
    def generation_folder(self) -> str:
        return f"{self.folder}/generations/{self.generation}"

    def lineage(self, query: str) -> tuple[Ancestor, ...]:
        """The generations with batches of a query that belong to its output, oldest first."""
        found = [Ancestor(one.generation, one.batches.get(query, -1)) for one in self.note.lineage]
        return (*found, Ancestor(self.generation, None))

    def repeated(self, query: str) -> int:
        """The last batch of a query that this generation shares with an earlier one, or repeats.

        -1 when there is none. After it, a batch with the number of an earlier one has other rows.
        """
        origin, ancestors = self.note.origin, self.lineage(query)[:-1]
        if origin is not None and origin.savepoint is not None:
            # Its batches are counted afresh.
            return -1
        last = ancestors[-1].last_batch if ancestors else None
        if origin is None or last is None or last < 0:
            return -1
        same_to = origin.epoch if origin.same_to is None else origin.same_to
        return last + max(same_to - origin.epoch, 0)

    def begin_turn(self) -> None:
        """Begins this run's turn, which outputs note from now on."""
        self.home = begin_turn(self.files, self.path, self.home)

    def refresh(self) -> None:
        """Switches to the newest generation, after one has been created."""
        self.note = self._newest()

    def spool(self, query: str) -> str:
        """The folder of the batches of a query whose rows can be computed only once."""
        return f"{self.generation_folder}/spool/{query}"

    def sink_file(self, sink: str) -> str:
        """The file that records where a sink writes."""
        return f"{self.generation_folder}/sinks/{sink}.json"

    @property
    def plan_file(self) -> str:
        """The file with the run's plan and the text of its spec."""
        return f"{self.generation_folder}/plan.json"

    def log(self, name: str, text: str) -> str:
        """Writes a text, without secrets, to the logs; returns its path as the user knows it."""
        path = f"{self.folder}/logs/{name}"
        self.storage.replace(path, scrub(text))
        return path.removeprefix("file:")

    def close(self) -> None:
        """Releases the folder."""
        self.lease.release()

    def _identify(self, pipeline: str) -> str:
        path = identity_file(self.folder)
        known = read_note_as(self.storage, path, StateIdentity.from_json)
        if known is None:
            if self.storage.list(f"{self.folder}/generations"):
                raise unreadable(path, "it is missing, and sinks identify the state by it")
            return begin_state(self.storage, self.folder, pipeline)
        if known.pipeline != pipeline:
            raise RuntimeFault(
                FOREIGN_STATE,
                f"{self.shown} is the state of pipeline `{known.pipeline}`, not of `{pipeline}`",
                "pass another folder with `--state`",
            )
        return known.id

    def _newest(self) -> Generation:
        """The note of the newest complete generation; the first one is created here."""
        note = current_generation(self.storage, self.folder)
        if note is not None:
            return note
        first = generation_note(FIRST, None, ())
        path = f"{self.folder}/generations/{FIRST}/generation.json"
        create_note(self.storage, path, first.to_json())
        return first


def begin_state(files: Files, folder: str, pipeline: str) -> str:
    """Makes a folder the state of a pipeline that has not run yet; returns its id."""
    identity = StateIdentity(str(uuid.uuid4()), pipeline)
    create_note(files, identity_file(folder), identity.to_json())
    return identity.id


def current_generation(files: Files, folder: str) -> Generation | None:
    """The note of a state folder's current generation; None in a folder without one yet.

    One under construction has a name that is not a number. Raises RuntimeFault when the newest has
    lost its note: an older one may not silently take its place.
    """
    numbers = [name for name in files.list(f"{folder}/generations") if name.isdigit()]
    if not numbers:
        return None
    newest = f"{folder}/generations/{max(numbers)}"
    path = f"{newest}/generation.json"
    note = read_note_as(files, path, Generation.from_json, _NOTE_HELP)
    held = [name for name in files.list(newest) if not name.startswith(".")]
    if note is None and (held or len(numbers) > 1):
        raise unreadable(path, "it is missing", _NOTE_HELP)
    if note is None:
        return None
    if note.number != max(numbers):
        raise unreadable(path, f"it is that of generation {note.number}", _NOTE_HELP)
    return note


def sweep(files: Files, folder: str, *, local: bool) -> None:
    """Removes a half-built generation; only a holder of the state may do so.

    On a `local` disk a rename is one step. Elsewhere it may be a copy: the folder with the number
    is complete only once the hidden one has been removed.
    """
    generations = f"{folder}/generations"
    for name in files.list(generations):
        if name.startswith(".") and name.endswith(".tmp"):
            number = name.removeprefix(".").removesuffix(".tmp")
            if not local:
                files.delete([f"{generations}/{number}"])
            files.delete([f"{generations}/{name}"])


def generation_note(
    number: str,
    origin: Origin | None,
    lineage: Sequence[CountedGeneration],
    marks: Sequence[Mark] = (),
) -> Generation:
    """The note of a generation that begins now."""
    return Generation(number, origin, tuple(lineage), tuple(marks), made_at=datetime.now(UTC))


def disk_of(state: State) -> tuple[Disk, str]:
    """The file system of an opened state, and its folder there."""
    local = state.storage.local_path(state.folder)
    if local is not None:
        return LocalDisk(), str(local)
    return RemoteDisk(state.storage), state.folder
