"""Which of the files that were read are there again, by the log that Spark's source keeps of them.

Each entry of that log was a batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from ...state.checkpoints import entry_of
from ..interface import BatchPositions, Lack, ReadBefore, Replay


class FilesBatches(BatchPositions):
    """A position is the last entry of the log, counted from zero."""

    def batches_at(self, position: Any) -> int:
        last = entry_of(position)
        return 0 if last is None else last + 1

    def position_after(self, batches: int) -> Mapping[str, int]:
        return {"logOffset": batches - 1}


class FilesReplay(Replay):
    """Files that are still there are read again, in the batches that the log has of them."""

    batches = FilesBatches()

    def lacks(self, source: ReadBefore) -> Iterator[Lack]:
        count, of = files_gone(source)
        if count:
            yield Lack(
                f"source `{source.name}`: {count:,} of {of:,} files that were read are no longer "
                "there",
                "put them back where they were",
            )


def files_gone(source: ReadBefore) -> tuple[int, int]:
    """How many of the files that were read are no longer there, and of how many."""
    files = list(files_read(source))
    return sum(not source.there(path) for path in files), len(files)


def files_read(source: ReadBefore) -> Iterator[str]:
    """The files that a source had read up to its position, each as a path or URL, not encoded."""
    last = entry_of(source.position)
    last = -1 if last is None else last
    seen: set[str] = set()
    ways = iter(()) if source.log is None else source.log.entries.ways(last)
    for path in next(ways, ()):
        for line in (source.disk.read(f"{source.folder}/{path}") or "").splitlines()[1:]:
            entry = json.loads(line)
            name = unquote(str(entry["path"]))
            if int(entry["batchId"]) <= last and name not in seen:
                seen.add(name)
                yield name
