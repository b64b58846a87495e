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
  savepoints/<name>/               see `savepoints`

A generation continues another one from one of its barriers. The newest complete one is current.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ...contracts.redaction import scrub
from ..base.errors import FOREIGN_STATE, RuntimeFault
from ..storage.disk import Disk, LocalDisk, RemoteDisk
from ..storage.file_system import Files, Storage
from ..storage.local_files import LocalFiles, check_state_note
from ..storage.notes import create_note, read_note, unreadable
from .generations import check_generation
from .home import begin_turn, settle
from .lease import Lease
from .mailbox import Mailbox

FORMAT = 2
FIRST = "0001"
SINK_NOTE = "delete it: the sink writes it again"
"""What to do about a damaged note of a sink."""
_NOTE_HELP = (
    "it says which batches count, and nothing else does: put it back from a copy, or start over "
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
        return str(self.note["generation"])

    @property
    def generation_folder(self) -> str:
        return f"{self.folder}/generations/{self.generation}"

    def lineage(self, query: str) -> tuple[Ancestor, ...]:
        """The generations with batches of a query that belong to its output, oldest first."""
        found = [
            Ancestor(str(one["generation"]), int(one["batches"].get(query, -1)))
            for one in self.note["lineage"]
        ]
        return (*found, Ancestor(self.generation, None))

    def repeated(self, query: str) -> int:
        """The last batch of a query that this generation shares with an earlier one, or repeats.

        -1 when there is none. After it, a batch with the number of an earlier one has other rows.
        """
        origin, ancestors = self.note["from"], self.lineage(query)[:-1]
        if origin is not None and "savepoint" in origin:
            # Its batches are counted afresh.
            return -1
        last = ancestors[-1].last_batch if ancestors else None
        if origin is None or last is None or last < 0:
            return -1
        epoch = int(origin["epoch"])
        return last + max(int(origin.get("same_to", epoch)) - epoch, 0)

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
        path = f"{self.folder}/state.json"
        note = read_note(self.storage, path)
        if note is None:
            if self.storage.list(f"{self.folder}/generations"):
                raise unreadable(path, "it is gone, and sinks know the state by it")
            return begin_state(self.storage, self.folder, pipeline)
        check_state_note(note, path)
        if note.get("format") != FORMAT:
            found = note.get("format")
            raise unreadable(path, f"its format is {found}, this runtime reads {FORMAT}")
        if note["pipeline"] != pipeline:
            raise RuntimeFault(
                FOREIGN_STATE,
                f"{self.shown} is the state of pipeline `{note['pipeline']}`, not of `{pipeline}`",
                "pass another folder with `--state`",
            )
        return str(note["id"])

    def _newest(self) -> Mapping[str, Any]:
        """The note of the newest complete generation; the first one is created here."""
        note = current_generation(self.storage, self.folder)
        if note is not None:
            return note
        first = generation_note(FIRST, None, ())
        create_note(self.storage, f"{self.folder}/generations/{FIRST}/generation.json", first)
        return first


def begin_state(files: Files, folder: str, pipeline: str) -> str:
    """Makes a folder the state of a pipeline that has not run yet; returns its id."""
    id = str(uuid.uuid4())
    create_note(files, f"{folder}/state.json", {"format": FORMAT, "id": id, "pipeline": pipeline})
    return id


def current_generation(files: Files, folder: str) -> dict[str, Any] | None:
    """The note of a state folder's current generation; None in a folder without one yet.

    One under construction has a name that is not a number. Raises RuntimeFault when the newest has
    lost its note: an older one may not silently take its place.
    """
    numbers = [name for name in files.list(f"{folder}/generations") if name.isdigit()]
    if not numbers:
        return None
    newest = f"{folder}/generations/{max(numbers)}"
    path = f"{newest}/generation.json"
    note = read_note(files, path, _NOTE_HELP)
    held = [name for name in files.list(newest) if not name.startswith(".")]
    if note is None and (held or len(numbers) > 1):
        raise unreadable(path, "it is gone", _NOTE_HELP)
    if note is None:
        return None
    try:
        check_generation(note)
    except ValueError as error:
        raise unreadable(path, str(error), _NOTE_HELP) from None
    if note["generation"] != max(numbers):
        raise unreadable(path, f"it is that of generation {note['generation']}", _NOTE_HELP)
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
    origin: Mapping[str, Any] | None,
    lineage: Sequence[Mapping[str, Any]],
    marks: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The note of a generation that begins now.

    `origin` is the generation, barrier and epoch it continues, and the last epoch whose batches are
    the same as there; and the savepoint, if it starts from one. `lineage` is its ancestors, oldest
    first, each with the last batch of each query that counts: `{"generation": "0001", "batches":
    {"per_minute": 10}}`. `marks` say which parts of the state are incomplete, see
    `state.incompleteness`.
    """
    made = datetime.now(UTC).isoformat(timespec="milliseconds")
    note = {"format": FORMAT, "generation": number, "from": origin}
    return {**note, "lineage": list(lineage), "marks": list(marks), "made_at": made}


def disk_of(state: State) -> tuple[Disk, str]:
    """The file system of an opened state, and its folder there."""
    local = state.storage.local_path(state.folder)
    if local is not None:
        return LocalDisk(), str(local)
    return RemoteDisk(state.storage), state.folder
