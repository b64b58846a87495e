"""What a files sink does before its first batch: it brings the output in line with the state.

In this order, each step repeatable after a kill at any point:

1. Refuse an output that is ahead of the state: the state is an older copy.
2. Truncate: files, then records, then staged files of batches that do not belong to the state.
3. Finish merges and published batches whose files were not all moved.
4. Undo the batch that Spark has not committed if anything about it is wrong; it runs again.
5. Check that the files of all records exist with their original lengths.

What Spark has committed is never undone, and what it has not committed may be: it reruns that batch
from the same input. So a lost record costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....contracts.notes.files_sink import PublishedBatch
from ...base.errors import OUTPUT_AHEAD, OUTPUT_DAMAGED, STATE_UNREADABLE, RuntimeFault
from ...state.state import Ancestor
from .commits import BatchKey, FileBatches, Outlet
from .merges import Merges


class Recovery:
    """Brings one sink's output to the position of its query."""

    def __init__(self, outlet: Outlet, lineage: Sequence[Ancestor], committed: int) -> None:
        """`committed` is the last batch that Spark has committed for the query, -1 for none."""
        self._outlet = outlet
        self._storage = outlet.storage
        self._lineage = {ancestor.generation: ancestor for ancestor in lineage}
        self._current = lineage[-1].generation
        self._committed = committed

    def run(self) -> dict[BatchKey, PublishedBatch]:
        """The published batches with a record; raises RuntimeFault when it can't continue."""
        self.refuse_ahead()
        self.cut_back()
        merges = Merges(self._outlet)
        merges.finish_all()
        self._finish_staged()
        self._undo_if_amiss()
        # In this order: another process may merge files meanwhile. It removes records last.
        there = self._outlet.files()
        replaced = merges.replaced()
        records = {key: self._record(key) for key in self._outlet.recorded()}
        self._check(records, there, replaced)
        return records

    def cut_back(self) -> None:
        """Removes what does not belong to the state: all files first, so that none is missed."""
        outlet = self._outlet
        outlet.remove(name for name in outlet.files() if not self._belongs(name))
        doomed = [key for key in outlet.recorded() if not self._holds(key.generation, key.number)]
        self._storage.delete([outlet.record_path(key) for key in doomed])

    def refuse_ahead(self) -> None:
        """Raises RuntimeFault when the output is ahead of the state.

        A state restored from a copy would rewrite batches, or remove good ones.
        """
        spans = [span for name in self._outlet.files() if (span := self._outlet.batches_of(name))]
        ends = [(span.generation, span.last) for span in spans]
        ends += [(key.generation, key.number) for key in self._outlet.recorded()]
        for generation, batch in ends:
            # The valid part of an earlier generation has been truncated to where this one began.
            ahead = generation == self._current and batch > self._committed + 1
            if ahead or int(generation) > int(self._current):
                raise RuntimeFault(
                    OUTPUT_AHEAD,
                    f"the output of sink `{self._outlet.sink}` in {self._outlet.shown} has batch "
                    f"{batch} of generation {generation}, and the state has only come to batch "
                    f"{self._committed} of generation {self._current}",
                    "restore the newest state, or give the sink another path: the state is an "
                    "older copy,\nor the sink has got its rows from another stream before",
                )

    def _finish_staged(self) -> None:
        """Moves the remaining files of published batches into place, drops other staged files."""
        outlet, folder = self._outlet, f"{self._outlet.own}/staging"
        recorded = set(outlet.recorded())
        for name in self._storage.list(folder):
            key = BatchKey.parse(name)
            if key in recorded and key is not None and (record := self._readable(key)):
                self._move_whole(f"{folder}/{name}", record)
            self._storage.delete([f"{folder}/{name}"])
        half_written = [n for n in self._storage.list(f"{outlet.own}/commits") if n[0] == "."]
        self._storage.delete([f"{outlet.own}/commits/{name}" for name in half_written])

    def _move_whole(self, folder: str, record: PublishedBatch) -> None:
        staged = set(self._storage.list(folder))
        left = [file for file in record.files if file.staged in staged]
        whole = [file for file in left if self._storage.intact(f"{folder}/{file.staged}")]
        self._outlet.move(folder, whole)

    def _undo_if_amiss(self) -> None:
        """Undoes the batch after the last committed one, unless its record and files are intact."""
        outlet, there = self._outlet, self._outlet.files()
        coming = self._committed + 1
        own = [key for key in outlet.recorded() if key.generation == self._current]
        keys = [key for key in own if key.number == coming]
        if keys and (record := self._readable(keys[0])) and not _missing(record, there):
            return
        spans = ((name, outlet.batches_of(name)) for name in there)
        outlet.remove(name for name, span in spans if span is not None and self._is(span, coming))
        self._storage.delete([outlet.record_path(key) for key in keys])

    def _is(self, span: FileBatches, batch: int) -> bool:
        return span.generation == self._current and span.last == batch

    def _check(
        self,
        records: Mapping[BatchKey, PublishedBatch],
        there: Mapping[str, int],
        replaced: set[str],
    ) -> None:
        for key, record in records.items():
            for name, length in _missing(record, there):
                if name in replaced:
                    continue
                found = there.get(name)
                path = f"{self._outlet.shown}/{name}"
                told = "is missing" if found is None else f"has {found} bytes instead of {length}"
                note = self._outlet.record_path(key).removeprefix("file:")
                raise RuntimeFault(
                    OUTPUT_DAMAGED,
                    f"{path}, which holds rows of sink `{self._outlet.sink}`, {told}",
                    f"restore the file from a backup, or roll back to a barrier before batch "
                    f"{key.number}: `streamc rollback`;\nto continue without its rows, delete "
                    f"{note}",
                )

    def _record(self, key: BatchKey) -> PublishedBatch:
        return self._outlet.record(key) or PublishedBatch(0, ())

    def _readable(self, key: BatchKey) -> PublishedBatch | None:
        try:
            return self._outlet.record(key)
        except RuntimeFault as fault:
            if fault.code is not STATE_UNREADABLE:
                raise
            return None

    def _belongs(self, name: str) -> bool:
        span = self._outlet.batches_of(name)
        return span is not None and self._holds(span.generation, span.last)

    def _holds(self, generation: str, batch: int) -> bool:
        ancestor = self._lineage.get(generation)
        return ancestor is not None and ancestor.holds(batch)


def _missing(record: PublishedBatch, there: Mapping[str, int]) -> list[tuple[str, int]]:
    """The files of a record that do not exist with the recorded length."""
    return [(f.name, f.bytes) for f in record.files if there.get(f.name) != f.bytes]
