"""What becomes of each part of a state, and of the rows of a savepoint."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ..migration import Migration
from .specs import OneDiagnostic

Group = Literal["operator", "source", "sink", "settings"]
"""What a part of a state belongs to; ``settings`` is for what belongs to none of the others."""


class MissingDecision(TypedDict):
    """A question: the path of its answer in the file, the answer of a draft, the alternatives."""

    path: list[str]
    value: str
    choices: list[str]


class PlannedPart(TypedDict):
    """A part of the state, its name in both versions, and what becomes of it."""

    owner: str
    group: Group
    kind: str
    part: str
    old: str | None
    new: str | None
    verdict: str
    reason: str
    fix: str | None
    marked: bool
    decision: MissingDecision | None


class TriedTable(TypedDict):
    """A table of an operator of a savepoint; ``columns`` are their compressed sizes in bytes."""

    name: str
    rows: int
    bytes: int
    columns: dict[str, int]


class FailingExample(TypedDict):
    """A row that can't be converted: its keys, and the columns that the expression reads."""

    keys: dict[str, str | None]
    reads: dict[str, str | None]


class FailingRows(TypedDict):
    """Rows for which a part of the new state can't be computed."""

    table: str
    part: str
    expression: str
    rows: int
    reason: str | None
    examples: list[FailingExample]


class SampleRows(TypedDict):
    """The first rows that merge into one, and the result."""

    table: str
    rows: int
    before: list[dict[str, str | None]]
    after: dict[str, str | None]


class IncompleteWindows(TypedDict):
    """Windows that lack rows that had closed by the watermark."""

    watermark_ms: int
    groups: int
    closed: int | None
    start_ms: int | None
    end_ms: int | None
    windows: int | None


class MovedTimer(TypedDict):
    """How many keys have a timer, and for how many its instant changes."""

    name: str
    by_clock: bool
    set: int
    moved: int
    at_once: int


class TriedOperator(TypedDict):
    """What becomes of the rows of an operator of a savepoint."""

    old: str
    new: str | None
    kind: str
    rows: int
    bytes: int
    tables: list[TriedTable]
    refused: str | None
    failing: list[FailingRows]
    samples: list[SampleRows]
    incomplete: IncompleteWindows | None
    timers: list[MovedTimer]


class TriedSavepoint(TypedDict):
    """The savepoint that a plan was tried on."""

    name: str
    pipeline: str
    version: int
    barrier: int
    watermark_ms: int
    rows: int
    bytes: int
    operators: list[TriedOperator]


class MigrationPlan(TypedDict):
    """``streamc savepoint plan``; ``document`` is what a restore executes.

    ``diagnostics`` are warnings: nothing is planned where a file has errors.
    """

    format: Literal[1]
    kind: Literal["migration-plan"]
    pipeline: str
    from_version: int
    to_version: int
    exit_code: Literal[0, 1, 2]
    parts: list[PlannedPart]
    document: Annotated[dict[str, Any], Migration]
    savepoint: NotRequired[TriedSavepoint]
    diagnostics: list[OneDiagnostic]
