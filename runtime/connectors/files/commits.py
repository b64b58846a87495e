"""What a files sink has published: the names of its files, and the record of each batch.

A file's name says which batch it belongs to, so that files that do not belong to the output can be
found without a record. A record is the note that publishes a batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ....contracts.notes.files_sink import PublishedBatch, PublishedFile
from ...storage.file_system import Storage
from ...storage.notes import create_note, read_note_as

_KEY = re.compile(r"(\d{4,})-(\d{9,})")


@dataclass(frozen=True, slots=True, order=True)
class BatchKey:
    """A batch of a generation.

    >>> str(BatchKey(12, "0001")), BatchKey.parse("0001-000000012")
    ('0001-000000012', BatchKey(number=12, generation='0001'))
    """

    number: int
    generation: str

    def __str__(self) -> str:
        return f"{self.generation}-{self.number:09d}"

    @classmethod
    def parse(cls, text: str) -> BatchKey | None:
        """The key in a text, None for any other text."""
        found = _KEY.fullmatch(text)
        return None if found is None else cls(int(found[2]), found[1])


@dataclass(frozen=True, slots=True)
class FileBatches:
    """The batches whose rows a file holds; one, unless files of several were merged."""

    generation: str
    first: int
    last: int


class Outlet:
    """The folder in which a sink publishes, and its own folder below that."""

    def __init__(self, storage: Storage, path: str, sink: str) -> None:
        self.storage = storage
        self.path = path
        self.sink = sink
        self.own = f"{path}/_streamc/{sink}"
        self._name = re.compile(
            rf"{re.escape(sink)}-(\d{{4,}})-(\d{{9,}})(?:-(\d{{9,}}))?-\d{{5,8}}\..*", re.DOTALL
        )

    @property
    def shown(self) -> str:
        """The folder as the user knows it."""
        return self.path.removeprefix("file:")

    @property
    def claim(self) -> str:
        """The file that says which state writes here."""
        return f"{self.own}/output.json"

    def files(self) -> dict[str, int]:
        """The lengths of all existing files that the sink has published, by name."""
        found = self.storage.lengths(self.path, f"{self.sink}-")
        return {name: length for name, length in found.items() if self.batches_of(name)}

    def batches_of(self, name: str) -> FileBatches | None:
        """The batches of a file, by its name; None for a file of something else."""
        found = self._name.fullmatch(name)
        if found is None:
            return None
        return FileBatches(found[1], int(found[2]), int(found[3] or found[2]))

    def file_name(self, key: BatchKey, number: int, staged: str) -> str:
        """The name of a batch's file; the part from the first dot is that of the staged one."""
        # Spark names a file part-00000-<uuid>-c000.snappy.parquet.
        return f"{self.sink}-{key}-{number:05d}.{staged.partition('.')[2]}"

    def merged_name(self, span: FileBatches, ending: str) -> str:
        """An unused name of a file with the rows of several batches."""
        stem = f"{self.sink}-{span.generation}-{span.first:09d}-{span.last:09d}"
        there, number = self.files(), 0
        while (name := f"{stem}-{number:05d}.{ending}") in there:
            number += 1
        return name

    def staging(self, key: BatchKey) -> str:
        return f"{self.own}/staging/{key}"

    def record_path(self, key: BatchKey) -> str:
        return f"{self.own}/commits/{key}.json"

    def recorded(self) -> list[BatchKey]:
        """The batches that have a record, in their order."""
        names = self.storage.list(f"{self.own}/commits")
        keys = (BatchKey.parse(name.removesuffix(".json")) for name in names)
        return sorted(key for key in keys if key is not None)

    def record(self, key: BatchKey) -> PublishedBatch | None:
        """A batch's record; raises RuntimeFault when it is damaged."""
        path = self.record_path(key)
        help = (
            "restore the file from a backup; if the files of that batch are intact, it may be "
            "deleted"
        )
        return read_note_as(self.storage, path, PublishedBatch.from_json, help)

    def publish(self, key: BatchKey, record: PublishedBatch) -> None:
        """Writes the record of a batch, which is then published."""
        create_note(self.storage, self.record_path(key), record.to_json())

    def move(self, folder: str, files: Iterable[PublishedFile]) -> None:
        """Renames staged files into place, except those already there."""
        self.storage.move([(f"{folder}/{f.staged}", f"{self.path}/{f.name}") for f in files])

    def remove(self, names: Iterable[str]) -> None:
        """Removes published files."""
        self.storage.delete([f"{self.path}/{name}" for name in names])
