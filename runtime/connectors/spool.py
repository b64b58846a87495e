"""A batch whose rows would differ if recomputed, kept until its sinks have it.

`rand()`, `uuid()`, the order in which a list is collected: a cached batch is recomputed when an
executor is lost, and all of it when the job was stopped. Two sinks would then disagree, and one
that gets the batch again would get other rows. So such a batch is first written to a file, from
which all sinks read it, also after a restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..storage.file_system import Storage
from ..storage.notes import create_note, read_note

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DAMAGED = (
    "restore the file from a backup; if you delete it, the batch is recomputed, and sinks that\n"
    "do not have it yet get other random numbers than those that do"
)


def is_repeatable(kernel: Any, frame: DataFrame) -> bool:
    """Whether the rows of a frame are the same whenever they are computed from the same input."""
    return bool(kernel.LateRows.repeatable(frame._jdf))


class Spool:
    """The kept batches of one query, in one folder.

    The last `keep` of them stay, as many as Spark keeps: after a fallback to a barrier the batches
    after it run again, and sinks that have them leave them out.
    """

    def __init__(self, storage: Storage, folder: str, keep: int) -> None:
        self._storage = storage
        self._folder = folder
        self._keep = keep

    def keep(self, batch: DataFrame, batch_id: int) -> tuple[DataFrame, int]:
        """The rows of a batch as they were first computed, and how many there are.

        A batch that is already kept is computed all the same, for its state.
        """
        note, rows = f"{self._folder}/{batch_id:09d}.json", f"{self._folder}/{batch_id:09d}"
        names = [name for name in self._storage.list(self._folder) if name[:9].isdigit()]
        old = [name for name in names if int(name[:9]) <= batch_id - max(self._keep, 1)]
        self._storage.delete([f"{self._folder}/{name}" for name in old])
        known = read_note(self._storage, note, _DAMAGED)
        if known is None:
            written = self._storage.write(batch, "parquet", {}, rows)
            known = {"rows": written.rows, "files": [file.name for file in written.files]}
            create_note(self._storage, note, known)
        else:
            batch.write.format("noop").mode("overwrite").save()
        files = [f"{rows}/{name}" for name in known["files"]]
        session = batch.sparkSession
        if not files:
            return session.createDataFrame([], batch.schema), 0
        return session.read.schema(batch.schema).parquet(*files), int(known["rows"])
