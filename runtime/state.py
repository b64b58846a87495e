"""The state folder of a pipeline: whose it is, who runs on it, and where things lie in it.

<state>/
  state.json                       the folder's own id, and the pipeline it belongs to
  lock                             held while a process runs on it (local paths only)
  logs/                            Spark's log, and the full text of each failure
  generations/0001/queries/<id>/   Spark's checkpoint of one query
  generations/0001/sinks/<sink>    where a sink writes
  generations/0001/meaning/<id>    what the state of one query means
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from pathlib import Path
from typing import IO

from .errors import FOREIGN_STATE, STATE_IN_USE, STATE_UNREADABLE, RuntimeFault
from .storage import Storage

FORMAT = 1
GENERATION = "0001"


class State:
    """An opened state folder; close it to let another process in."""

    def __init__(self, storage: Storage, folder: str, pipeline: str) -> None:
        """Opens the folder, and makes it one if there is none.

        Raises RuntimeFault when another process runs on it or it is another pipeline's.
        """
        self.storage = storage
        self.folder = storage.qualified(folder)
        self._lock = _lock(storage.local_path(folder), folder)
        try:
            self.id = self._identify(pipeline)
        except BaseException:
            self.close()
            raise

    @property
    def shown(self) -> str:
        """The folder as the user knows it."""
        return self.folder.removeprefix("file:")

    def checkpoint(self, query: str) -> str:
        """The folder that Spark keeps a query's progress and state in."""
        return f"{self.folder}/generations/{GENERATION}/queries/{query}"

    def sink_file(self, sink: str) -> str:
        """The file that remembers where a sink writes."""
        return f"{self.folder}/generations/{GENERATION}/sinks/{sink}.json"

    def meaning_file(self, query: str) -> str:
        """The file that remembers what the state of a query means."""
        return f"{self.folder}/generations/{GENERATION}/meaning/{query}.json"

    def log(self, name: str, text: str) -> str:
        """Writes a text of its own to the logs and returns its path as the user knows it."""
        path = f"{self.folder}/logs/{name}"
        self.storage.delete([path])
        self.storage.create(path, text)
        return path.removeprefix("file:")

    def close(self) -> None:
        """Gives the folder free."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _identify(self, pipeline: str) -> str:
        path = f"{self.folder}/state.json"
        text = self.storage.read(path)
        if text is None:
            own = {"format": FORMAT, "id": str(uuid.uuid4()), "pipeline": pipeline}
            self.storage.create(path, json.dumps(own, indent=2) + "\n")
            return own["id"]  # type: ignore[return-value]
        try:
            found = json.loads(text)
            known, owner, id = found["format"], found["pipeline"], found["id"]
        except (ValueError, KeyError, TypeError):
            raise _unreadable(path, "it is not what a pipeline writes there") from None
        if known != FORMAT:
            raise _unreadable(path, f"its format is {known}, this runtime reads {FORMAT}")
        if owner != pipeline:
            raise RuntimeFault(
                FOREIGN_STATE,
                f"{self.shown} is the state of pipeline `{owner}`, not of `{pipeline}`",
                "pass another folder with `--state`",
            )
        return str(id)


def _unreadable(path: str, reason: str) -> RuntimeFault:
    return RuntimeFault(
        STATE_UNREADABLE,
        f"{path.removeprefix('file:')} cannot be read: {reason}",
        "put the file back from a copy, or start over with another `--state`",
    )


def _lock(folder: Path | None, name: str) -> IO[str] | None:
    """Holds the folder's lock file until it is closed or the process ends, however it ends."""
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "lock", "a+", encoding="utf-8")  # noqa: SIM115  (held while it runs)
    except OSError as error:
        raise RuntimeFault(
            STATE_UNREADABLE,
            f"cannot write to the state folder {name}: {error.strerror}",
            "pass another folder with `--state`",
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        lock.close()
        raise RuntimeFault(
            STATE_IN_USE,
            f"process {holder} runs on the state {name}",
            "stop it first, or pass another folder with `--state`",
        ) from None
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock
