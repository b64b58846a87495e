"""The files sink: every batch's rows appear once, whatever interrupts the run.

    <path>/spend-0001-000000012-00000.parquet         what users read
    <path>/_streamc/spend/output.json                 the state that writes here
    <path>/_streamc/spend/staging/0001-000000013/     a batch that is being written
    <path>/_streamc/spend/commits/0001-000000012.json a published batch and its files

A batch is (1) written to the staging folder by Spark, (2) published: its record, which lists the
files, appears whole or not at all, (3) moved into place, file by file. A run interrupted before the
record leaves nothing and rewrites the batch; one interrupted after it moves the files that the
record lists and never rewrites that batch. Readers of `<path>/*.parquet` see only whole files:
names in `_streamc` are hidden from Spark and Arrow as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....contracts.notes.files_sink import FilesSinkNote, PublishedBatch, PublishedFile
from ...base.options import size_in_bytes
from ...state.state import SINK_NOTE
from ...storage.file_system import Storage, Written
from ...storage.notes import read_note, said, write_note
from ..interface import Sink, SinkRequest
from .claims import Claims
from .commits import BatchKey, Outlet
from .formats import take_written, writer_settings
from .recovery import Recovery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROLL_SIZE = "512 MB"


class FileSink(Sink):
    """Writes the batches of one relation to one folder, each exactly once."""

    reads_batch_once = True
    runs_users_code = False

    def __init__(self, asked: SinkRequest) -> None:
        """It keeps the records of so many batches as may come again."""
        options, state = asked.options, asked.state
        self.name = asked.name
        self.upsert = asked.upsert
        self._query = asked.query
        self._state = state
        self._storage: Storage = state.storage
        self._keep = asked.keep
        self._format = take_written(asked.owner, options)
        roll = str(options.pop("roll_size", ROLL_SIZE))
        self._roll = size_in_bytes(asked.owner, "roll_size", roll)
        path = self._storage.qualified(str(options.pop("path")))
        self._outlet = Outlet(self._storage, path, self.name)
        self._options = writer_settings(asked.owner, self._format, options)
        self._claims = Claims(state)
        self._published: dict[BatchKey, PublishedBatch] = {}
        self._last = PublishedBatch(0, ())

    def check(self) -> None:
        """Raises RuntimeFault when the folder holds the output of another state or of a copy of it.

        Also when this state's output is missing, or ahead of the state.
        """
        self._claims.check(self._outlet, known=self._written_to()[0] == self._outlet.path)
        self._recovery(self._outlet).refuse_ahead()

    def claim(self) -> None:
        """Claims the folder for this run, and notes that the sink writes there."""
        self._claims.take(self._outlet)
        self._remember()

    def open(self) -> None:
        """Brings the output in line with the state, also where the sink has written earlier.

        Raises RuntimeFault when it is not as it was written.
        """
        self._claims.confirm(self._outlet)
        for path in self._written_to()[1]:
            outlet = Outlet(self._storage, path, self.name)
            if self._claims.holds(outlet):
                self._recovery(outlet).cut_back()
        records = self._recovery(self._outlet).run()
        in_order = sorted(records, key=lambda key: (key.generation, key.number))
        self._published = {key: records[key] for key in in_order}

    def write(self, batch: DataFrame, batch_id: int) -> int | None:
        """Writes a batch; returns its row count, None if it is already published.

        A published batch is computed all the same: Spark derives the next state and watermark from
        the rows that pass, and a run interrupted before its commit lacks them.
        """
        key = BatchKey(batch_id, self._state.generation)
        if key in self._published:
            batch.write.format("noop").mode("overwrite").save()
            self._last = self._published[key]
            return None
        staging = self._outlet.staging(key)
        written = self._storage.write(batch, self._format, self._options, staging, self._roll)
        self._last = PublishedBatch(written.rows, self._files(key, written))
        if written.rows:
            self._state.lease.check()
            self._claims.confirm_often(self._outlet)
            self._outlet.publish(key, self._last)
            self._published[key] = self._last
            self._outlet.move(staging, self._last.files)
        self._storage.delete([staging, *self._outdated()])
        return written.rows

    def acknowledged(self) -> Mapping[str, int]:
        """The rows, files and bytes of the last batch, whenever it was published."""
        files = self._last.files
        return {
            "rows": self._last.rows,
            "files": len(files),
            "bytes": sum(file.bytes for file in files),
        }

    def kept_rows(self) -> None:
        """They are in the files."""

    def _files(self, key: BatchKey, written: Written) -> tuple[PublishedFile, ...]:
        return tuple(
            PublishedFile(
                self._outlet.file_name(key, n, file.name), file.name, file.bytes, file.rows
            )
            for n, file in enumerate(written.files)
        )

    def _outdated(self) -> list[str]:
        too_many = list(self._published)[: max(len(self._published) - self._keep, 0)]
        for key in too_many:
            del self._published[key]
        return [self._outlet.record_path(key) for key in too_many]

    def _committed(self) -> int:
        """The last batch that Spark has committed, which decides which ones run again."""
        folder = f"{self._state.checkpoint(self._query)}/commits"
        return max((int(n) for n in self._storage.list(folder) if n.isdigit()), default=-1)

    def _recovery(self, outlet: Outlet) -> Recovery:
        return Recovery(outlet, self._state.lineage(self._query), self._committed())

    def _written_to(self) -> tuple[str | None, list[str]]:
        """Where the sink wrote last according to its note, and all other paths that it had."""
        known = self._known()
        if known is None:
            return None, []
        paths = dict.fromkeys((*known.earlier, known.path))
        return known.path, [one for one in paths if one != self._outlet.path]

    def _remember(self) -> None:
        """Notes where the sink writes, and in which format, for later work on its files."""
        note = FilesSinkNote(
            path=self._outlet.path,
            earlier=tuple(self._written_to()[1]),
            query=self._query,
            file_format=self._format,
            options=self._options,
            roll_size=self._roll,
        )
        if note != self._known():
            write_note(self._storage, self._state.sink_file(self.name), note.to_json())

    def _known(self) -> FilesSinkNote | None:
        """The sink's own note; None if there is none, or one of another connector."""
        path = self._state.sink_file(self.name)
        note = read_note(self._storage, path, SINK_NOTE)
        if note is None or "path" not in note:
            return None
        return said(note, path, FilesSinkNote.from_json, SINK_NOTE)
