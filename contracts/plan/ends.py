"""Sources, tables, sinks and functions of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..json_records import KEY, Record, named
from ..records import dataclass
from .values import Column


@dataclass(frozen=True, slots=True)
class ReadColumn(Column):
    """A column that is read from outside."""

    nullable: bool


@dataclass(frozen=True, slots=True)
class MetadataColumn(Column):
    """A column that describes a row: ``key`` is the kind of metadata."""

    key: str


@dataclass(frozen=True, slots=True)
class ComputedColumn(Column):
    """A column that is computed from others of its row."""

    expression: str


@dataclass(frozen=True, slots=True)
class Watermark(Record):
    """The column with the time of a row, and how late rows may be."""

    column: str
    delay: str


@dataclass(frozen=True, slots=True)
class MalformedRows(Record):
    """What is done with rows that can't be read: ``skip``, or ``send`` them to a sink."""

    action: str
    to: str | None = None


@dataclass(frozen=True, slots=True)
class FutureRows(Record):
    """What is done with rows whose time is more than ``beyond`` ahead of the clock."""

    beyond: str
    action: str
    to: str | None = None


@dataclass(frozen=True, slots=True)
class Source(Record):
    """What a source reads, and which of its rows."""

    name: str = field(metadata=KEY)
    connector: str
    options: Mapping[str, str]
    columns: tuple[ReadColumn, ...]
    metadata: tuple[MetadataColumn, ...] = ()
    computed: tuple[ComputedColumn, ...] = field(kw_only=True)
    watermark: Watermark | None = field(kw_only=True)
    malformed_rows: MalformedRows | None = None
    future_rows: FutureRows | None = None


@dataclass(frozen=True, slots=True)
class Table(Record):
    """Reference data, reread after ``refresh``."""

    name: str = field(metadata=KEY)
    connector: str
    options: Mapping[str, str]
    columns: tuple[ReadColumn, ...]
    computed: tuple[ComputedColumn, ...]
    refresh: str | None


@dataclass(frozen=True, slots=True)
class Sink(Record):
    """What a sink writes; ``mode`` is ``upsert`` for one that replaces rows with the same key."""

    name: str = field(metadata=KEY)
    relation: str = field(metadata=named("from"))
    connector: str
    options: Mapping[str, str]
    output_mode: str
    mode: str | None = None
    key: tuple[str, ...] = ()
    latest_by: str | None = None

    @property
    def upserts(self) -> bool:
        """Whether its rows replace those with the same key."""
        return self.mode == "upsert"


@dataclass(frozen=True, slots=True)
class Function(Record):
    """A function in Python: ``target`` is ``module:name``, ``code`` a digest of the module."""

    name: str = field(metadata=KEY)
    target: str
    parameters: tuple[Column, ...]
    returns: str | None
    code: str | None = None
