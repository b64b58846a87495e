"""A savepoint: the state of a pipeline at a barrier, as described by the manifest in its folder.

<state>/savepoints/<name>/
manifest.json                                what follows, sealed like all notes
state/<query>/<operator>/<table>/*.parquet   keys by name, a column a cell
sources/<source>/                            what a source has seen, where it keeps that itself
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from typing import ClassVar, TypeAlias

from .json_records import KEY, WRITTEN, Malformed, Record
from .notes.epoch import Cuts
from .notes.generation import CountedGeneration
from .notes.marks import Mark
from .plan import Plan
from .records import dataclass

Files: TypeAlias = Mapping[str, tuple[int, str]]
"""The length and the CRC-32 of files by their paths in the savepoint."""


@dataclass(frozen=True, slots=True)
class SavedTable(Record):
    """A table of an operator: its columns by name with Spark's types, its size."""

    name: str = field(metadata=KEY)
    columns: Mapping[str, str]
    rows: int
    files: Files

    def check(self) -> None:
        """Raise ``Malformed`` for paths that can't be files of a savepoint."""
        _check_least(0, self.rows, "rows")
        _check_files(self.files, "files")

    @property
    def bytes(self) -> int:
        """The total length of all files."""
        return sum(length for length, _ in self.files.values())


@dataclass(frozen=True, slots=True)
class SavedOperator(Record):
    """What an operator kept in one query; keys and cells are columns of its first table."""

    id: str = field(metadata=KEY)
    kind: str
    keys: tuple[str, ...]
    cells: tuple[str, ...]
    tables: Mapping[str, SavedTable]

    @property
    def rows(self) -> int:
        """The rows of all tables."""
        return sum(table.rows for table in self.tables.values())

    @property
    def bytes(self) -> int:
        """The total length of all files."""
        return sum(table.bytes for table in self.tables.values())


@dataclass(frozen=True, slots=True)
class SavedQuery(Record):
    """The position of a query: its batch, the watermarks before and after it in ms (0 is none).

    ``counted_as`` is the query by which the lineage counts its batches, None if it counts none.
    """

    batch: int
    watermark_ms: int
    next_watermark_ms: int
    sinks: tuple[str, ...]
    counted_as: str | None = field(default=None, kw_only=True, metadata=WRITTEN)
    operators: Mapping[str, SavedOperator]

    def check(self) -> None:
        """Raise ``Malformed`` for an impossible batch number."""
        _check_least(-1, self.batch, "batch")


@dataclass(frozen=True, slots=True)
class Savepoint(Record):
    """The state of a pipeline at a barrier; ``plan`` is that of the script that the job ran.

    ``spec`` is the text that the plan was compiled from, None if it was not next to the script.
    ``lineage`` are the generations whose output belongs to it, as in the note of a generation, the
    one that it was taken from last; its numbers refer to the state whose id is ``state_id``.
    ``logs`` are the files in which sources keep what they have seen. ``spark`` is the version that
    wrote what only Spark can read. ``marks`` are parts that are inexact.
    """

    FORMAT: ClassVar[int] = 1

    name: str
    made_at: datetime
    pipeline: str
    version: int
    barrier: int
    epoch: int
    generation: str
    state_id: str
    spark: str
    sources: Cuts = field(kw_only=True)
    queries: Mapping[str, SavedQuery] = field(kw_only=True)
    lineage: tuple[CountedGeneration, ...] = field(kw_only=True)
    marks: tuple[Mark, ...] = field(default=(), kw_only=True, metadata=WRITTEN)
    logs: Files = field(kw_only=True)
    plan: Plan = field(kw_only=True)
    spec: str | None = field(default=None, kw_only=True, metadata=WRITTEN)

    def check(self) -> None:
        """Raise ``Malformed`` for impossible numbers and files."""
        _check_least(0, self.barrier, "barrier")
        _check_least(0, self.epoch, "epoch")
        _check_files(self.logs, "logs")

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
            for id_ in query.operators:
                found.setdefault(id_, set()).add(query.next_watermark_ms)
        return {id_: 0 if 0 in all_ else min(all_) for id_, all_ in found.items()}

    @property
    def rows(self) -> int:
        """The rows of all operators."""
        return sum(o.rows for query in self.queries.values() for o in query.operators.values())

    @property
    def bytes(self) -> int:
        """The total length of the files of all operators."""
        return sum(o.bytes for query in self.queries.values() for o in query.operators.values())

    def operator(self, id_: str, query: str | None = None) -> SavedOperator | None:
        """Return the state of an operator: in this query, else where most of its cells are."""
        holder = self.holder(id_, query)
        return None if holder is None else holder.operators[id_]

    def holder(self, id_: str, query: str | None = None) -> SavedQuery | None:
        """Return the query in which ``operator`` finds one."""
        found = {name: saved for name, saved in self.queries.items() if id_ in saved.operators}
        if query in found:
            return found[query]
        return max(found.values(), key=lambda one: len(one.operators[id_].cells), default=None)

    def kept(self, id_: str) -> list[SavedOperator]:
        """Return the state of an operator in each query."""
        saved = (query.operators.get(id_) for query in self.queries.values())
        return [one for one in saved if one is not None]

    @property
    def operators(self) -> tuple[SavedOperator, ...]:
        """Each operator once."""
        ids = dict.fromkeys(id_ for query in self.queries.values() for id_ in query.operators)
        return tuple(found for id_ in ids if (found := self.operator(id_)) is not None)

    def files(self) -> Files:
        """Return all files but the manifest."""
        found = dict(self.logs)
        for query in self.queries.values():
            for operator in query.operators.values():
                for table in operator.tables.values():
                    found.update(table.files)
        return found


def _check_least(least: int, number: int, name: str) -> None:
    if number < least:
        raise Malformed(f"is not a number of at least {least}", name)


def _check_files(files: Files, name: str) -> None:
    if not _are_below(files) or any(length < 0 for length, _ in files.values()):
        raise Malformed("is not a list of files", name)


def _are_below(paths: Iterable[str]) -> bool:
    """Return whether all paths are those of files below the savepoint."""
    return all(_is_below(*path.split("/")) for path in paths)


def _is_below(first: str, *rest: str) -> bool:
    plain = all(part not in ("", ".", "..") and "\0" not in part for part in (first, *rest))
    return plain and bool(rest) and first in ("state", "sources")
