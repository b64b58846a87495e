"""Merges of a sink's files, in steps that can be interrupted and resumed.

The merged file is written to a hidden place. Then its note says what it replaces, and from then on
the first process to come finishes the merge: it renames the merged file into place, and removes the
replaced files, the records of their batches, and at last the note.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts.notes.files_sink import Merge
from ...base.errors import OUTPUT_DAMAGED, RuntimeFault
from ...storage.notes import create_note, read_note_as
from .commits import Outlet

_HELP = "restore the file from a backup; if none of the files that it names is missing, delete it"


class Merges:
    """The merges of one sink in progress."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._storage = outlet.storage
        self.staging = f"{outlet.own}/merging"
        self._notes = f"{outlet.own}/merges"

    def publish(self, merge: Merge) -> None:
        """Commits to a merge; then finishes it."""
        create_note(self._storage, self._note(merge), merge.to_json())
        self._finish(merge)

    def replaced(self) -> set[str]:
        """The files being replaced, which may be missing."""
        return {name for merge in self._noted() for name in merge.replaces}

    def finish_all(self) -> None:
        """Finishes interrupted merges; raises RuntimeFault when rows would be lost."""
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
        """Undoes a merge whose file is damaged, unless another process has moved it since."""
        there = self._outlet.files()
        if there.get(merge.name) == merge.bytes:
            return False
        if not set(merge.replaces) <= set(there):
            path = f"{self._outlet.shown}/{merge.name}"
            raise RuntimeFault(
                OUTPUT_DAMAGED,
                f"{path}, which holds rows of sink `{self._outlet.sink}`, is missing or damaged",
                "restore the file from a backup",
            )
        self._storage.delete([self._note(merge), f"{self.staging}/{merge.staged}"])
        return True

    def _noted(self) -> Iterator[Merge]:
        for name in self._storage.list(self._notes):
            path = f"{self._notes}/{name}"
            if name[0] != "." and (
                merge := read_note_as(self._storage, path, Merge.from_json, _HELP)
            ):
                yield merge

    def _note(self, merge: Merge) -> str:
        return f"{self._notes}/{merge.name}.json"
