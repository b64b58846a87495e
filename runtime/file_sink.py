"""The files sink: every batch's rows appear once, whatever stops the run and whenever.

    <path>/spend-0001-000000012-00000.parquet         what users read
    <path>/_streamc/spend/output.json                 the state that writes here
    <path>/_streamc/spend/staging/0001-000000013/     a batch that is being written
    <path>/_streamc/spend/commits/0001-000000012.json a published batch and its files

A batch is (1) written to the staging folder by Spark, (2) published: its record, which lists the
files, appears whole or not at all, (3) moved into place, file by file. A run that was stopped
before the record leaves nothing and writes the batch again; one that was stopped after it moves
the files that the record lists and never writes that batch again. Readers of `<path>/*.parquet`
see whole files only: names in `_streamc` are hidden from Spark and Arrow as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .errors import FOREIGN_OUTPUT, OUTPUT_GONE, RuntimeFault
from .file_commits import RECORD_FORMAT, BatchKey, Outlet, PublishedFile, Record, create, read
from .file_recovery import Recovery
from .notes import write_note
from .options import choose, refuse_rest, size_in_bytes, spark_options
from .state import State
from .storage import Storage, Written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMATS = ("json", "csv", "parquet", "orc", "avro")
ROLL_SIZE = "512 MB"


class FileSink:
    """Writes the batches of one relation to one folder, each exactly once."""

    reads_batch_once = True

    def __init__(
        self, name: str, query: str, options: Mapping[str, Any], state: State, keep: int
    ) -> None:
        """`keep` is how many batches' records stay; `open` must be called before `write`."""
        rest = dict(options)
        owner = f"sink `{name}`"
        self.name = name
        self._query = query
        self._state = state
        self._storage: Storage = state.storage
        self._keep = keep
        self._format = str(rest.pop("format"))
        choose(self._format, {known: known for known in FORMATS}, owner, "format")
        self._roll = size_in_bytes(owner, "roll_size", str(rest.pop("roll_size", ROLL_SIZE)))
        self._outlet = Outlet(self._storage, self._storage.qualified(str(rest.pop("path"))), name)
        self._options = _writer_options(self._format, rest)
        refuse_rest(owner, rest)
        self._published: dict[BatchKey, Record] = {}
        self._last = Record(0, ())

    def open(self) -> None:
        """Claims the folder for this state, then makes the output what the state says it is.

        Raises RuntimeFault when the folder holds the output of another state, when this state's
        output is no longer there, and when it is not as it was written.
        """
        earlier = self._claim()
        lineage, committed = self._state.lineage(self._query), self._committed()
        for path in earlier:
            outlet = Outlet(self._storage, path, self.name)
            if self._owner(outlet) == self._state.id:
                Recovery(outlet, lineage, committed).cut_back()
        records = Recovery(self._outlet, lineage, committed).run()
        in_order = sorted(records, key=lambda key: (key.generation, key.number))
        self._published = {key: records[key] for key in in_order}

    def write(self, batch: DataFrame, batch_id: int) -> int | None:
        """Writes a batch, or None as its row count if it is published already.

        A published batch is computed all the same: Spark takes the next state and watermark from
        the rows that pass, and a run that was stopped before its commit has not got them.
        """
        key = BatchKey(batch_id, self._state.generation)
        if key in self._published:
            batch.write.format("noop").mode("overwrite").save()
            self._last = self._published[key]
            return None
        staging = self._outlet.staging(key)
        written = self._storage.write(batch, self._format, self._options, staging, self._roll)
        self._last = Record(written.rows, self._files(key, written))
        if written.rows:
            self._state.lease.check()
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
        """The last batch that Spark has committed; it is the one that knows which come again."""
        folder = f"{self._state.checkpoint(self._query)}/commits"
        return max((int(n) for n in self._storage.list(folder) if n.isdigit()), default=-1)

    def _claim(self) -> list[str]:
        """Takes the folder; returns those that the sink has written to before."""
        path, known = self._outlet.path, self._known() or {}
        owner = self._owner(self._outlet)
        if owner is None and known.get("path") == path:
            raise RuntimeFault(
                OUTPUT_GONE,
                f"the output of sink `{self.name}` in {self._outlet.shown} is gone, but the state "
                f"goes on after the rows that were in it: there is no {_shown(self._outlet.claim)}",
                "put the folder back, or start over with another `--state`",
            )
        if owner is not None and owner != self._state.id:
            raise RuntimeFault(
                FOREIGN_OUTPUT,
                f"{self._outlet.shown} holds what sink `{self.name}` wrote with another state: its "
                "rows would be there twice",
                f"go on with that state, or give the sink another path, or delete "
                f"{self._outlet.shown}",
            )
        if owner is None:
            create(self._storage, self._outlet.claim, {"state": self._state.id, "sink": self.name})
        return self._remember(known)

    def _remember(self, known: Mapping[str, Any]) -> list[str]:
        """Notes where the sink writes, and in which form, for what works on its files later."""
        path = self._outlet.path
        paths = [*known.get("earlier", ()), *([known["path"]] if "path" in known else ())]
        earlier = [str(one) for one in dict.fromkeys(paths) if one != path]
        told = {
            "format": RECORD_FORMAT,
            "path": path,
            "earlier": earlier,
            "query": self._query,
            "file_format": self._format,
            "options": self._options,
            "roll_size": self._roll,
        }
        if told != known:
            write_note(self._storage, self._state.sink_file(self.name), told)
        return earlier

    def _known(self) -> dict[str, Any] | None:
        path = self._state.sink_file(self.name)
        return read(
            self._storage, path, "delete it: the sink writes it again, from the output's own notes"
        )

    def _owner(self, outlet: Outlet) -> str | None:
        """The state that writes to a folder, None when nothing does."""
        found = read(
            self._storage,
            outlet.claim,
            f"put the file back from a copy; the state that writes here is {self._state.id} if "
            f"{outlet.shown} was never written with another one",
        )
        return None if found is None else str(found.get("state"))


def _shown(path: str) -> str:
    return path.removeprefix("file:")


def _writer_options(format: str, rest: dict[str, Any]) -> dict[str, str]:
    options = spark_options(rest)
    if format == "csv":
        options.setdefault("escape", '"')  # a quote within quotes is doubled, as readers expect
        options["header"] = str(rest.pop("header", True)).lower()
        if (delimiter := rest.pop("delimiter", None)) is not None:
            options["sep"] = str(delimiter)
    return options
