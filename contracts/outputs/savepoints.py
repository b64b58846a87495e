"""Savepoints of a state, what one holds, and what a question about one gives."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ..plan import Plan
from .running import Mark


class SavepointSummary(TypedDict):
    """A savepoint; a watermark of 0 is none."""

    name: str
    pipeline: str
    version: int
    barrier: int
    made_at: str
    watermark_ms: int
    rows: int
    bytes: int


class DamagedSavepoint(TypedDict):
    """A savepoint that can't be used, and why."""

    name: str
    reason: str


class Savepoints(TypedDict):
    """``streamc savepoint list``."""

    format: Literal[1]
    kind: Literal["savepoints"]
    savepoints: list[SavepointSummary]
    damaged: list[DamagedSavepoint]


class SavedTable(TypedDict):
    """A table of an operator: columns with Spark's types; of each file length and CRC-32."""

    columns: dict[str, str]
    rows: int
    files: dict[str, tuple[int, str]]


class SavedOperator(TypedDict):
    """What an operator kept in one query; keys and cells are columns of its first table."""

    kind: str
    keys: list[str]
    cells: list[str]
    tables: dict[str, SavedTable]


class SavedQuery(TypedDict):
    """Where a query stood: its batch, the watermarks before and after it in ms (0 is none).

    ``counted_as`` is the query by which the lineage counts its batches.
    """

    batch: int
    watermark_ms: int
    next_watermark_ms: int
    sinks: list[str]
    counted_as: str | None
    operators: dict[str, SavedOperator]


class SavedGeneration(TypedDict):
    """A generation whose output belongs to a savepoint, up to these batches of its queries."""

    generation: str
    batches: dict[str, int]
    apart: NotRequired[bool]


class Savepoint(TypedDict):
    """``manifest.json`` of a savepoint.

    ``plan`` is that of the script which the job ran, ``spec`` the text that it was compiled from.
    ``logs`` are the files in which sources keep what they have seen.
    """

    format: Literal[1]
    name: str
    made_at: str
    pipeline: str
    version: int
    barrier: int
    epoch: int
    generation: str
    state_id: str
    spark: str
    sources: dict[str, Any]
    queries: dict[str, SavedQuery]
    lineage: list[SavedGeneration]
    marks: list[Mark]
    logs: dict[str, tuple[int, str]]
    plan: Annotated[dict[str, Any], Plan]
    spec: str | None


class ShownSavepoint(Savepoint):
    """``streamc savepoint show``: the manifest."""

    kind: Literal["savepoint"]


class Rows(TypedDict):
    """``streamc savepoint query``: values are JSON where it has them, and text where not."""

    format: Literal[1]
    kind: Literal["rows"]
    columns: list[str]
    rows: list[dict[str, Any]]
