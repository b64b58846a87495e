"""The epochs of a generation, each compared with Spark's logs.

The cut of an epoch is stored twice: in the gate's log, and, source by source, in the log of each
query that has planned it. So a missing or damaged file of the gate's can be rewritten; one that no
query has planned is not needed, since the gate reopens that epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ...contracts.json_records import instant_text
from ...contracts.notes.epoch import Cuts, EpochNote
from ..storage.disk import Tree
from ..storage.notes import seal, unseal
from .checkpoints import Generation, Logged, read_offsets

DRAINED_MS = (9223372036854775, 253370764800000)
"""Where the gate moves the watermarks of a draining epoch; earlier versions used the second."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """An available epoch; `text` is the content to rewrite its file with, if necessary."""

    number: int
    cuts: Cuts
    text: str | None = None


class EpochLog:
    """Examines epochs one by one; files are read on demand."""

    def __init__(self, disk: Tree, folder: str, generation: Generation) -> None:
        self._disk = disk
        self._folder = folder
        self._files = generation.epochs
        self._batches = {id: query.offsets for id, query in generation.queries.items()}
        self._read: dict[str, Logged | None] = {}
        self._known: dict[int, Epoch | str] = {}

    @property
    def last(self) -> int:
        """The last epoch with a file or a planned batch, -1 without any."""
        return max((self.planned, *self._files))

    @property
    def planned(self) -> int:
        """The last epoch that a query has planned, -1 without any."""
        found = [self._logged(query, max(files)) for query, files in self._batches.items() if files]
        return max((one.epoch for one in found if one is not None), default=-1)

    def base(self, query: str) -> int | None:
        """The number of an epoch minus that of its batch in a query; None before the first."""
        for batch in sorted(self._batches.get(query, {}), reverse=True):
            found = self._logged(query, batch)
            if found is not None:
                return found.epoch - batch
        return None

    def look(self, number: int) -> Epoch | str:
        """An epoch, or why it is not available."""
        if number not in self._known:
            self._known[number] = self._look(number)
        return self._known[number]

    def _look(self, number: int) -> Epoch | str:
        logged = self._logs_of(number)
        found = self._of_file(number)
        if isinstance(found, str):
            return self._restored(number, logged) or found
        for path, log in logged.items():
            if any(found.cuts.get(source) != at for source, at in log.cuts.items()):
                return f"it and {path} disagree"
        return found

    def _of_file(self, number: int) -> Epoch | str:
        """The epoch from its file, or what is wrong with that."""
        path = self._files.get(number)
        held = None if path is None else self._disk.content(f"{self._folder}/{path}")
        if held is None:
            return "it is missing"
        try:
            found = EpochNote.from_json(unseal(held.decode()))
        except ValueError as error:
            return str(error)
        if found.number != number:
            return f"it is the file of epoch {found.number}"
        return Epoch(number, found.cuts)

    def _restored(self, number: int, logged: Mapping[str, Logged]) -> Epoch | None:
        """The epoch from the queries' logs, if together they have all of it."""
        cuts: dict[str, Any] = {}
        for log in logged.values():
            for source, at in log.cuts.items():
                if cuts.setdefault(source, at) != at:
                    return None
        near = [one for n in (number - 1, number + 1) if isinstance(one := self._of_file(n), Epoch)]
        if not cuts or not any(set(one.cuts) == set(cuts) for one in near):
            return None
        drain = any(log.watermark_ms in DRAINED_MS for log in logged.values())
        # If the previous epoch is not known either, the gate opens one more that settles.
        before = next((one.cuts for one in near if one.number < number), None)
        note = EpochNote(
            number=number,
            cuts=dict(sorted(cuts.items())),
            rows=drain or cuts != before,
            drain=drain,
            opened_at=instant_text(datetime.now(UTC)),
        )
        return Epoch(number, cuts, seal(note.to_json()))

    def _logs_of(self, number: int) -> dict[str, Logged]:
        """Each query's log of an epoch, by file."""
        found: dict[str, Logged] = {}
        for query, files in self._batches.items():
            base = self.base(query)
            batch = None if base is None else number - base
            # The first batch of a query that joined later is an epoch in which it had no part.
            if batch is None or batch not in files or (batch == 0 and number > 0):
                continue
            logged = self._logged(query, batch)
            if logged is not None:
                found[files[batch]] = logged
        return found

    def _logged(self, query: str, batch: int) -> Logged | None:
        path = self._batches[query][batch]
        if path not in self._read:
            held = self._disk.content(f"{self._folder}/{path}")
            try:
                self._read[path] = None if held is None else read_offsets(held.decode())
            except ValueError:
                self._read[path] = None
        return self._read[path]
