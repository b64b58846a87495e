"""The files sink: every batch's rows appear once, whatever stops the run and whenever.

    <path>/spend-0001-000000012-00000.parquet         what users read
    <path>/_streamc/spend/output.json                 the state that writes here
    <path>/_streamc/spend/staging/000000013/          a batch that is being written
    <path>/_streamc/spend/commits/0001-000000012.json a published batch and its files

A batch is (1) written to the staging folder by Spark, (2) published: its record, which lists the
files, appears whole or not at all, (3) moved into place, file by file. A run that was stopped
before the record leaves nothing and writes the batch again; one that was stopped after it moves
the files that the record lists and never writes that batch again. Readers of `<path>/*.parquet`
see whole files only: names in `_streamc` are hidden from Spark and Arrow as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .errors import FOREIGN_OUTPUT, OUTPUT_GONE, RuntimeFault
from .notes import create_note, read_note, unreadable
from .options import choose, refuse_rest, spark_options
from .state import State
from .storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMATS = ("json", "csv", "parquet", "orc", "avro")
RECORD_FORMAT = 1


class FileSink:
    """Writes the batches of one relation to one folder, each exactly once."""

    reads_batch_once = True

    def __init__(self, name: str, options: Mapping[str, Any], state: State, keep: int) -> None:
        """`keep` is how many batches' records stay; `open` must be called before `write`."""
        rest = dict(options)
        owner = f"sink `{name}`"
        self.name = name
        self._state = state
        self._storage: Storage = state.storage
        self._keep = keep
        self._format = str(rest.pop("format"))
        choose(self._format, {known: known for known in FORMATS}, owner, "format")
        self._path = self._storage.qualified(str(rest.pop("path")))
        self._options = _writer_options(self._format, rest)
        refuse_rest(owner, rest)
        self._own = f"{self._path}/_streamc/{name}"
        self._published: deque[int] = deque()
        self._last: Mapping[str, int] = {}

    def open(self) -> None:
        """Claims the folder for this state, then finishes or discards what a run left behind.

        Raises RuntimeFault when the folder holds the output of another state, or when this
        state's output is no longer there.
        """
        self._claim()
        batches = [self._batch_of(name) for name in self._storage.list(f"{self._own}/commits")]
        self._published = deque(sorted(batch for batch in batches if batch is not None))
        for staged in self._storage.list(f"{self._own}/staging"):
            if staged.isdigit() and int(staged) in self._published:
                self._finish(int(staged))
            self._storage.delete([f"{self._own}/staging/{staged}"])

    def write(self, batch: DataFrame, batch_id: int) -> int | None:
        """Writes a batch, or None as its row count if it is published already.

        A published batch is computed all the same: Spark takes the next state and watermark from
        the rows that pass, and a run that was stopped before its commit has not got them.
        """
        if batch_id in self._published:
            batch.write.format("noop").mode("overwrite").save()
            record = self._read(self._record(batch_id)) or {}
            self._last = {"rows": int(record.get("rows", 0)), "files": len(record.get("files", ()))}
            return None
        staging = self._staging(batch_id)
        written = self._storage.write(batch, self._format, self._options, staging)
        if written.rows:
            files = {
                name: self._final_name(batch_id, number, name)
                for number, (name, _) in enumerate(written.files)
            }
            record = {"state": self._state.id, "rows": written.rows, "files": files}
            self._write_note(self._record(batch_id), record)
            self._published.append(batch_id)
            self._move(batch_id, files)
        self._last = {
            "rows": written.rows,
            "files": len(written.files) if written.rows else 0,
            "bytes": sum(size for _, size in written.files) if written.rows else 0,
        }
        self._storage.delete([staging, *self._outdated()])
        return written.rows

    def acknowledged(self) -> Mapping[str, int]:
        """The rows, files and bytes of the last batch."""
        return self._last

    def _finish(self, batch_id: int) -> None:
        """Moves what is left of a published batch into place."""
        staged = set(self._storage.list(self._staging(batch_id)))
        record = self._read(self._record(batch_id)) or {}
        files = record.get("files", {})
        self._move(batch_id, {name: final for name, final in files.items() if name in staged})

    def _move(self, batch_id: int, files: Mapping[str, str]) -> None:
        staging = self._staging(batch_id)
        self._storage.move(
            [(f"{staging}/{name}", f"{self._path}/{final}") for name, final in files.items()]
        )

    def _outdated(self) -> list[str]:
        records = []
        while len(self._published) > self._keep:
            records.append(self._record(self._published.popleft()))
        return records

    def _claim(self) -> None:
        shown = self._path.removeprefix("file:")
        path = f"{self._own}/output.json"
        known = (self._read(self._state.sink_file(self.name)) or {}).get("path")
        found = self._read(path)
        if found is None and known == self._path:
            raise RuntimeFault(
                OUTPUT_GONE,
                f"the output of sink `{self.name}` in {shown} is gone, but the state goes on "
                "after the rows that were in it",
                "put the folder back, or start over with another `--state`",
            )
        if found is not None and found["state"] != self._state.id:
            raise RuntimeFault(
                FOREIGN_OUTPUT,
                f"{shown} holds what sink `{self.name}` wrote with another state: its rows would "
                "be there twice",
                f"go on with that state, or give the sink another path, or delete {shown}",
            )
        if found is None:
            self._write_note(path, {"state": self._state.id, "sink": self.name})
        if known != self._path:
            self._storage.delete([self._state.sink_file(self.name)])
            self._write_note(self._state.sink_file(self.name), {"path": self._path})

    def _write_note(self, path: str, note: dict[str, Any]) -> None:
        create_note(self._storage, path, {"format": RECORD_FORMAT, **note})

    def _read(self, path: str) -> dict[str, Any] | None:
        note = read_note(self._storage, path, "put the file back from a copy")
        if note is not None and note.get("format") != RECORD_FORMAT:
            found = note.get("format")
            raise unreadable(path, f"its format is {found}, this runtime reads {RECORD_FORMAT}")
        return note

    def _staging(self, batch_id: int) -> str:
        return f"{self._own}/staging/{batch_id:09d}"

    def _record(self, batch_id: int) -> str:
        return f"{self._own}/commits/{self._state.generation}-{batch_id:09d}.json"

    def _batch_of(self, record: str) -> int | None:
        generation, _, rest = record.partition("-")
        number = rest.removesuffix(".json")
        return int(number) if generation == self._state.generation and number.isdigit() else None

    def _final_name(self, batch_id: int, number: int, staged: str) -> str:
        # Spark names a file part-00000-<uuid>-c000.snappy.parquet: all after the first dot stays.
        ending = staged.partition(".")[2]
        return f"{self.name}-{self._state.generation}-{batch_id:09d}-{number:05d}.{ending}"


def _writer_options(format: str, rest: dict[str, Any]) -> dict[str, str]:
    options = spark_options(rest)
    if format == "csv":
        options.setdefault("escape", '"')  # a quote within quotes is doubled, as readers expect
        options["header"] = str(rest.pop("header", True)).lower()
        if (delimiter := rest.pop("delimiter", None)) is not None:
            options["sep"] = str(delimiter)
    return options
