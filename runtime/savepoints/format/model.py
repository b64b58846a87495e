"""What a savepoint is: a folder with a manifest, written last, and Parquet files.

<state>/savepoints/<name>/
  manifest.json                                what follows, sealed like all notes
  state/<query>/<operator>/<table>/*.parquet   keys by name, a column a cell
  sources/<source>/                            what a source has seen, where it keeps that itself
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ....contracts.json_records import Malformed
from ....contracts.plan import Plan
from ...base.errors import SAVEPOINT_UNUSABLE, RuntimeFault
from ...base.fields import Fields
from ...state.generations import read_lineage
from ...state.incompleteness import Mark, read_marks
from ...storage.file_system import Files
from ...storage.notes import unseal

FORMAT = 1
FOLDER = "savepoints"
MANIFEST = "manifest.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an operator: its columns by name with Spark's types, how much it holds.

    `files` has the length and the CRC-32 of each file by its path in the savepoint.
    """

    name: str
    columns: Mapping[str, str]
    rows: int
    files: Mapping[str, tuple[int, str]]

    @property
    def bytes(self) -> int:
        return sum(length for length, _ in self.files.values())


@dataclass(frozen=True, slots=True)
class SavedOperator:
    """What an operator kept in one query; `keys` and `cells` are columns of its first table."""

    id: str
    kind: str
    keys: tuple[str, ...]
    cells: tuple[str, ...]
    tables: Mapping[str, Table]

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())

    @property
    def bytes(self) -> int:
        return sum(table.bytes for table in self.tables.values())


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """Where a query stood: its batch, watermarks before and behind it in ms (0 is none), operators.

    `counted_as` is the query by which the lineage counts its batches, None if it counts none.
    """

    batch: int
    watermark_ms: int
    next_watermark_ms: int
    sinks: tuple[str, ...]
    operators: Mapping[str, SavedOperator]
    counted_as: str | None = None


@dataclass(frozen=True, slots=True)
class Savepoint:
    """The state of a pipeline at a barrier. `plan` is the one that the job ran with.

    `spec` is the text that the plan was compiled from, None where it was not beside the script.
    `lineage` are the generations whose output belongs to it, as in the note of a generation, the
    one that it was taken from last; it counts in the state whose id is `state_id`. `epoch` is the
    text of the epoch's own file. `spark` is the version that wrote what only Spark can read.
    `marks` are parts that are not what they would have been.
    """

    name: str
    made_at: datetime
    pipeline: str
    version: int
    barrier: int
    epoch: int
    generation: str
    state_id: str
    spark: str
    plan: Plan
    sources: Mapping[str, Any]
    logs: Mapping[str, tuple[int, str]]
    lineage: tuple[Mapping[str, Any], ...]
    queries: Mapping[str, SavedQuery]
    marks: tuple[Mark, ...] = ()
    spec: str | None = None

    @property
    def watermark_ms(self) -> int:
        """The lowest watermark of any query that has one, 0 without any."""
        found = [query.next_watermark_ms for query in self.queries.values()]
        return min((ms for ms in found if ms != 0), default=0)

    @property
    def watermarks(self) -> Mapping[str, int]:
        """The watermark of each operator in ms, the lowest of the queries that contain it.

        0 is none, in any of them.
        """
        found: dict[str, set[int]] = {}
        for query in self.queries.values():
            for id in query.operators:
                found.setdefault(id, set()).add(query.next_watermark_ms)
        return {id: 0 if 0 in all_ else min(all_) for id, all_ in found.items()}

    @property
    def rows(self) -> int:
        return sum(o.rows for query in self.queries.values() for o in query.operators.values())

    @property
    def bytes(self) -> int:
        return sum(o.bytes for query in self.queries.values() for o in query.operators.values())

    def operator(self, id: str, query: str | None = None) -> SavedOperator | None:
        """What was kept of an operator: in this query, else where most of its cells are."""
        holder = self.holder(id, query)
        return None if holder is None else holder.operators[id]

    def holder(self, id: str, query: str | None = None) -> SavedQuery | None:
        """The query in which `operator` finds one: this one, else where most of its cells are."""
        found = {name: saved for name, saved in self.queries.items() if id in saved.operators}
        if query in found:
            return found[query]
        return max(found.values(), key=lambda one: len(one.operators[id].cells), default=None)

    def kept(self, id: str) -> list[SavedOperator]:
        """What each query has kept of an operator."""
        saved = (query.operators.get(id) for query in self.queries.values())
        return [one for one in saved if one is not None]

    @property
    def operators(self) -> tuple[SavedOperator, ...]:
        """Each operator once."""
        ids = dict.fromkeys(id for query in self.queries.values() for id in query.operators)
        return tuple(found for id in ids if (found := self.operator(id)) is not None)

    def files(self) -> Mapping[str, tuple[int, str]]:
        """All files but the manifest, by their paths, with length and CRC-32."""
        found = dict(self.logs)
        for query in self.queries.values():
            for operator in query.operators.values():
                for table in operator.tables.values():
                    found.update(table.files)
        return found

    def to_document(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "name": self.name,
            "made_at": self.made_at.isoformat(timespec="milliseconds"),
            "pipeline": self.pipeline,
            "version": self.version,
            "barrier": self.barrier,
            "epoch": self.epoch,
            "generation": self.generation,
            "state_id": self.state_id,
            "spark": self.spark,
            "sources": dict(self.sources),
            "queries": {id: _query_document(query) for id, query in self.queries.items()},
            "lineage": [dict(one) for one in self.lineage],
            "marks": [mark.to_document() for mark in self.marks],
            "logs": {path: list(held) for path, held in self.logs.items()},
            "plan": self.plan.to_json(),
            "spec": self.spec,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Savepoint:
        """The savepoint of a manifest; raises ValueError when it is none of this format."""
        found = Fields(document)
        found.check_format(FORMAT)
        try:
            return cls._read(found)
        except ValueError as error:
            raise ValueError(f"it is no manifest: {error}") from None

    @classmethod
    def _read(cls, found: Fields) -> Savepoint:
        return cls(
            name=found.text("name"),
            made_at=found.instant("made_at"),
            pipeline=found.text("pipeline"),
            version=found.whole("version"),
            barrier=found.whole("barrier", least=0),
            epoch=found.whole("epoch", least=0),
            generation=found.text("generation"),
            state_id=found.text("state_id"),
            spark=found.text("spark"),
            plan=_plan(found),
            sources=found.mapping("sources"),
            logs=found.files("logs", _is_below),
            lineage=read_lineage(found),
            queries=found.each("queries", _query),
            marks=read_marks(found),
            spec=found.maybe("spec", found.text),
        )


def load_savepoint(files: Files, folder: str) -> Savepoint:
    """The savepoint in a folder; raises RuntimeFault when there is none that can be read."""
    shown = folder.removeprefix("file:")
    try:
        text = files.read(f"{folder}/{MANIFEST}")
    except OSError as error:
        raise unusable(f"{shown}/{MANIFEST} cannot be read: {error.strerror}") from None
    if text is None:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"there is no savepoint in {shown}",
            "`streamc savepoint list` shows those of a state",
        )
    try:
        return Savepoint.from_document(unseal(text))
    except ValueError as error:
        raise unusable(f"{shown}/{MANIFEST} cannot be used: {error}") from None


def find_savepoint(files: Files, state: str, named: str) -> tuple[Savepoint, str]:
    """A savepoint of a state by its name, or one in a folder by its path, and its folder.

    Raises RuntimeFault when there is none that can be read, and when what has the name is the
    manifest of another one.
    """
    folder = savepoint_folder(state, named)
    found = load_savepoint(files, folder)
    if "/" not in named and found.name != named:
        shown = folder.removeprefix("file:")
        raise unusable(f"{shown}/{MANIFEST} is that of another savepoint, `{found.name}`")
    return found, folder


def unusable(what: str) -> RuntimeFault:
    """The fault for a savepoint that is not as it was written."""
    help = "take another savepoint, or bring this one back from a copy"
    return RuntimeFault(SAVEPOINT_UNUSABLE, what, help)


def savepoint_folder(state: str, named: str) -> str:
    """The folder of a savepoint: one of a state by its name, or a folder by its path."""
    return named.rstrip("/") if "/" in named else f"{state}/{FOLDER}/{named}"


def savepoint_names(files: Files, state: str) -> list[str]:
    """The names of the savepoints of a state folder; one that is half made has none."""
    names = [name for name in files.list(f"{state}/{FOLDER}") if not name.startswith(".")]
    return [n for n in names if MANIFEST in files.list(f"{state}/{FOLDER}/{n}")]


def folders_of_savepoints(files: Files, state: str) -> list[str]:
    """The names of all savepoints of a state folder, also of those whose manifest is gone."""
    names = [name for name in files.list(f"{state}/{FOLDER}") if not name.startswith(".")]
    held = {name: set(files.list(f"{state}/{FOLDER}/{name}")) for name in names}
    # Earlier versions left the log of their Spark beside the savepoints.
    return [name for name in names if held[name] - {"spark.log"}]


def name_taken(name: str) -> RuntimeFault:
    """The fault for a savepoint whose name is another one's."""
    return RuntimeFault(
        SAVEPOINT_UNUSABLE,
        f"there is a savepoint `{name}` already",
        "give another name, or delete it: `streamc savepoint delete`",
    )


def check_name(name: str) -> str:
    """A name that a folder may have; raises RuntimeFault for any other."""
    if _NAME.fullmatch(name):
        return name
    raise RuntimeFault(
        SAVEPOINT_UNUSABLE,
        f"`{name}` can't be the name of a savepoint",
        "letters, digits, `_`, `-` and `.` make a name; the first is a letter or a digit",
    )


def check_free(name: str, taken: list[str]) -> str:
    """A name that a new savepoint may have; raises RuntimeFault for any other."""
    if check_name(name) not in taken:
        return name
    raise name_taken(name)


def new_name(pipeline: str, barrier: int, taken: list[str]) -> str:
    """A name that no savepoint has, which says of which barrier it is."""
    stem = f"{pipeline}-{barrier:06d}"
    return next(n for i in range(10**6) if (n := f"{stem}-{i}" if i else stem) not in taken)


def now() -> datetime:
    """The instant, in UTC."""
    return datetime.now(UTC)


def _query_document(query: SavedQuery) -> dict[str, Any]:
    return {
        "batch": query.batch,
        "watermark_ms": query.watermark_ms,
        "next_watermark_ms": query.next_watermark_ms,
        "sinks": list(query.sinks),
        "counted_as": query.counted_as,
        "operators": {id: _operator_document(one) for id, one in query.operators.items()},
    }


def _operator_document(operator: SavedOperator) -> dict[str, Any]:
    return {
        "kind": operator.kind,
        "keys": list(operator.keys),
        "cells": list(operator.cells),
        "tables": {
            name: {
                "columns": dict(table.columns),
                "rows": table.rows,
                "files": {path: list(held) for path, held in table.files.items()},
            }
            for name, table in operator.tables.items()
        },
    }


def _plan(found: Fields) -> Plan:
    try:
        return Plan.from_json(found.value("plan"), None)
    except Malformed as error:
        raise error.under("plan") from None


def _query(found: Fields) -> SavedQuery:
    return SavedQuery(
        batch=found.whole("batch", least=-1),
        watermark_ms=found.whole("watermark_ms"),
        next_watermark_ms=found.whole("next_watermark_ms"),
        sinks=found.texts("sinks"),
        operators={
            id: SavedOperator(id, kind, *rest)
            for id, (kind, *rest) in found.each("operators", _operator).items()
        },
        counted_as=found.maybe("counted_as", found.text),
    )


def _operator(found: Fields) -> tuple[Any, ...]:
    tables = {
        name: Table(name, columns, rows, files)
        for name, (columns, rows, files) in found.each("tables", _table).items()
    }
    return found.text("kind"), found.texts("keys"), found.texts("cells"), tables


def _table(found: Fields) -> tuple[Mapping[str, str], int, Mapping[str, tuple[int, str]]]:
    columns = found.mapping("columns")
    if not all(isinstance(kind, str) for kind in columns.values()):
        raise found.wrong("columns", "list of types")
    return columns, found.whole("rows", least=0), found.files("files", _is_below)


def _is_below(path: str) -> bool:
    """Whether a path is that of a file below the savepoint: none lies anywhere else."""
    first, *rest = path.split("/")
    parts = (first, *rest)
    plain = all(part not in ("", ".", "..") and "\0" not in part for part in parts)
    return plain and bool(rest) and first in ("state", "sources")
