"""The state of queries, written as Parquet below the folder of a savepoint."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....contracts.plan import Plan, Query
from ....contracts.savepoint import SavedOperator, SavedQuery, SavedTable
from ...base.options import quoted
from ...kinds.registry import kind_of
from ...plan.plan import OperatorUse, uses_of
from ...state_tables.tables import Stores
from ...storage.disk import Disk
from ..format.model import now

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from ...storage.file_system import Storage

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class StateWriter:
    """Writes the tables of a plan's operators below a folder."""

    def __init__(
        self,
        storage: Storage,
        disk: Disk,
        folder: str,
        plan: Plan,
        tell: Callable[[str], None],
    ) -> None:
        self._storage = storage
        self._disk = disk
        self._folder = folder
        self._plan = plan
        self._tell = tell

    def query(self, query: Query, checkpoint: str, batch: int) -> SavedQuery:
        """Writes the tables of a query, whose last batch in a checkpoint is this one."""
        offsets = self._disk.read(f"{checkpoint}/offsets/{batch}")
        commit = self._disk.read(f"{checkpoint}/commits/{batch}")
        if offsets is None or commit is None:
            raise FileNotFoundError(f"{checkpoint}: batch {batch}")
        operators = {
            use.operator.id: self._operator(query, checkpoint, number, use)
            for number, use in enumerate(uses_of(self._plan, query))
        }
        return SavedQuery(
            batch=batch,
            watermark_ms=int(json.loads(offsets.split("\n", 2)[1])["batchWatermarkMs"]),
            next_watermark_ms=int(json.loads(commit.split("\n", 1)[1])["nextBatchWatermarkMs"]),
            sinks=query.sinks,
            operators=operators,
            counted_as=query.id,
        )

    def _operator(
        self, query: Query, checkpoint: str, number: int, use: OperatorUse
    ) -> SavedOperator:
        begun, id = now(), use.operator.id
        stores = Stores(self._storage.session, checkpoint, number)
        kept = kind_of(use.operator).read(stores, use)
        tables = {
            name: write_table(
                *(self._storage, self._disk, self._folder),
                *(f"state/{query.id}/{id}/{name}", name, frame),
            )
            for name, frame in kept.tables.items()
        }
        saved = SavedOperator(id, use.operator.KIND, kept.keys, kept.cells, tables)
        took = (now() - begun).total_seconds()
        self._tell(f"{query.id}: {id}: {saved.rows} rows, {saved.bytes} bytes, {took:.1f} s")
        return saved


def write_table(
    storage: Storage, disk: Disk, folder: str, path: str, name: str, frame: DataFrame
) -> SavedTable:
    """Writes a table of a savepoint under construction in a folder."""
    written = storage.write(frame, "parquet", {}, f"{folder}/{path}")
    disk.delete([f"{folder}/{path}/_SUCCESS"])
    # Even one without rows has the types of the columns.
    files = [f"{path}/{one}" for one in disk.list(f"{folder}/{path}") if one.startswith("part-")]
    columns = {field.name: type_text(field.dataType) for field in frame.schema.fields}
    return SavedTable(name, columns, written.rows, file_sums(disk, folder, files))


def type_text(kind: DataType) -> str:
    """A type in Spark's form, with names of fields quoted where necessary."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match kind:
        case StructType():
            fields = (f"{_field_name(f.name)}:{type_text(f.dataType)}" for f in kind.fields)
            return f"struct<{','.join(fields)}>"
        case ArrayType():
            return f"array<{type_text(kind.elementType)}>"
        case MapType():
            return f"map<{type_text(kind.keyType)},{type_text(kind.valueType)}>"
    return kind.simpleString()


def _field_name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted(name)


def file_sums(disk: Disk, folder: str, paths: Sequence[str]) -> dict[str, tuple[int, str]]:
    """The length and the checksum of files in a folder, by their paths in it."""
    found = disk.sums(f"{folder}/{path}" for path in paths)
    held = {path: found[f"{folder}/{path}"] for path in paths}
    return {path: (one.bytes, one.crc32) for path, one in held.items()}
