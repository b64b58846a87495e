"""Savepoints of a state, the content of one, and the result of a query over one."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypedDict

from ..savepoint import Savepoint


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


class ShownSavepoint(Savepoint):
    """``streamc savepoint show``: the manifest."""

    __slots__ = ()

    KIND: ClassVar[str] = "savepoint"


class Rows(TypedDict):
    """``streamc savepoint query``: values are JSON if it can express them, else text."""

    format: Literal[1]
    kind: Literal["rows"]
    columns: list[str]
    rows: list[dict[str, Any]]
