"""The progress of a running job, from the files of its state; the job itself is never asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

_LOGGED = re.compile(r"(\d+)(\.compact)?")


class Positions:
    """The state of a soak. Files that disappear during a look count as absent."""

    def __init__(self, state: Path) -> None:
        self.state = state

    @property
    def generation(self) -> Path:
        """The folder of the newest generation."""
        return max((self.state / "generations").glob("[0-9]*"), default=self.state)

    @property
    def epoch(self) -> int:
        """The newest epoch that has been opened, -1 before the first."""
        return _newest(self.generation / "epochs")

    @property
    def committed(self) -> int:
        """The newest epoch that all queries have committed, in a state that began with them."""
        logs = (self.generation / "queries").glob("*/commits")
        return min((_newest_log(log) for log in logs), default=-1)

    @property
    def barrier(self) -> int:
        """The newest barrier that is complete, -1 before the first."""
        return _newest(self.generation / "barriers")

    @property
    def status(self) -> dict[str, Any]:
        """What the job reports of itself, every two seconds; empty before that."""
        with suppress(OSError, ValueError):
            text = (self.state / "control" / "status.json").read_text("utf-8")
            found: dict[str, Any] = json.loads(text.rstrip("\n").rpartition("\n")[0])
            return found
        return {}

    def files_read(self, sources: Iterable[str]) -> int:
        """How many files these sources have read: their input is numbered in order."""
        return sum(self._files_of(source) for source in sources)

    def _files_of(self, source: str) -> int:
        folder = self.generation / "sources" / source
        with suppress(OSError, ValueError, IndexError):
            logs = {int(m[1]): name for name, m in _logs(folder)}
            last = (folder / logs[max(logs)]).read_text("utf-8").splitlines()[-1]
            return int(Path(unquote(urlparse(json.loads(last)["path"]).path)).stem) + 1
        return 0


def _logs(folder: Path) -> Iterator[tuple[Path, re.Match[str]]]:
    for path in folder.rglob("[0-9]*"):
        found = _LOGGED.fullmatch(path.name)
        if found and path.is_file():
            yield path, found


def _newest_log(folder: Path) -> int:
    return max(
        (int(file.name) for file in folder.glob("[0-9]*") if file.name.isdigit()), default=-1
    )


def _newest(folder: Path) -> int:
    return max((int(file.stem) for file in folder.glob("[0-9]*.json")), default=-1)
