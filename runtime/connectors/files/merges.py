"""Files of a sink that were merged into one, in steps that can be stopped and gone on with.

The merged file is written out of sight. Then its note says what it replaces, and from here on the
merge is finished, by whoever comes first: the merged file is renamed into place, those that it
replaces are removed, the records of their batches, and at last the note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ...base.errors import OUTPUT_DAMAGED, RuntimeFault
from ...base.fields import Fields
from ...storage.notes import unreadable
from .commits import Outlet, create, file_name, read

_HELP = "put the file back from a copy; if none of the files that it names is gone, delete it"


@dataclass(frozen=True, slots=True)
class Merge:
    """A merged file: its name, its length, its name among those out of sight, what it replaces."""

    name: str
    bytes: int
    staged: str
    replaces: tuple[str, ...]


class Merges:
    """The merges of one sink that are under way."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._storage = outlet.storage
        self.staging = f"{outlet.own}/merging"
        self._notes = f"{outlet.own}/merges"

    def publish(self, merge: Merge) -> None:
        """Has a merge finished, whatever comes; then finishes it."""
        create(self._storage, self._note(merge), {**asdict(merge)})
        self._finish(merge)

    def replaced(self) -> set[str]:
        """The files that are being replaced: they may be gone."""
        return {name for merge in self._noted() for name in merge.replaces}

    def finish_all(self) -> None:
        """Finishes what was stopped; raises RuntimeFault when rows would be lost."""
        for merge in self._noted():
            self._finish(merge)

    def _finish(self, merge: Merge) -> None:
        outlet = self._outlet
        staged = f"{self.staging}/{merge.staged}"
        if outlet.files().get(merge.name) != merge.bytes:
            if not self._storage.intact(staged) and self._undone(merge):
                return
            self._storage.move([(staged, f"{outlet.path}/{merge.name}")])
        outlet.remove(merge.replaces)
        spans = [span for name in merge.replaces if (span := outlet.batches_of(name))]
        held = {(span.generation, n) for span in spans for n in range(span.first, span.last + 1)}
        records = [k for k in outlet.recorded() if (k.generation, k.number) in held]
        self._storage.delete([outlet.record_path(key) for key in records])
        self._storage.delete([self._note(merge)])

    def _undone(self, merge: Merge) -> bool:
        """Takes a merge whose file is damaged back, unless another process has moved it since."""
        there = self._outlet.files()
        if there.get(merge.name) == merge.bytes:
            return False
        if not set(merge.replaces) <= set(there):
            path = f"{self._outlet.shown}/{merge.name}"
            raise RuntimeFault(
                OUTPUT_DAMAGED,
                f"{path}, which holds rows of sink `{self._outlet.sink}`, is gone or damaged",
                "put the file back from a copy",
            )
        self._storage.delete([self._note(merge), f"{self.staging}/{merge.staged}"])
        return True

    def _noted(self) -> Iterator[Merge]:
        for name in self._storage.list(self._notes):
            note = None if name[0] == "." else read(self._storage, f"{self._notes}/{name}", _HELP)
            if note is not None:
                yield _merge(note, f"{self._notes}/{name}")

    def _note(self, merge: Merge) -> str:
        return f"{self._notes}/{merge.name}.json"


def _merge(note: Mapping[str, Any], path: str) -> Merge:
    try:
        found = Fields(note)
        replaces = found.texts("replaces")
        staged = found.text("staged")
        if ".." in staged.split("/") or any("/" in name for name in replaces):
            raise ValueError("it names files of other folders")
        return Merge(
            file_name(found, "name"), found.whole("bytes", least=0), staged.lstrip("/"), replaces
        )
    except ValueError as error:
        raise unreadable(path, str(error), _HELP) from None
