"""What differs between versions of specs: their code and their state."""

from __future__ import annotations

from typing import Literal, TypedDict

from .migration_plan import PlannedPart
from .specs import OneDiagnostic


class CodeChange(TypedDict):
    """The unified diff of the emitted script, and how many lines it adds and removes."""

    added: int
    removed: int
    diff: str


class ReviewedEdit(TypedDict):
    """A difference within something that is in both versions; null where it is in one only."""

    part: str
    old: str | None
    new: str | None


class ReviewedChange(TypedDict):
    """How an operator, source, table, function, query or sink differs; unchanged ones are left out.

    Operators are all listed. The settings are one entry without an ``id``.
    """

    group: Literal["operator", "source", "table", "function", "query", "sink", "settings"]
    id: str
    kind: str
    difference: str
    edits: list[ReviewedEdit]


class Diff(TypedDict):
    """``streamc diff``: how NEW differs from OLD, each a file or ``REVISION:PATH``.

    ``code`` is null where the same is emitted, ``state`` where both have the same plan; it has the
    verdict for each part of a savepoint of OLD, without a migration file. ``diagnostics`` are
    warnings: a version with errors is not compared.
    """

    format: Literal[1]
    kind: Literal["diff"]
    old: str
    new: str
    pipeline: str
    from_version: int
    to_version: int
    exit_code: Literal[0, 1]
    code: CodeChange | None
    changes: list[ReviewedChange]
    state: list[PlannedPart] | None
    diagnostics: list[OneDiagnostic]


class ReviewedMigration(TypedDict):
    """The verdicts on the state; ``draft`` is a file with the decisions that are missing.

    ``file`` is the migration file next to the spec whose decisions count, null without one.
    """

    exit_code: Literal[0, 1, 2]
    file: str | None
    parts: list[PlannedPart]
    draft: str | None


class ReviewedState(TypedDict):
    """The state of an operator in a savepoint."""

    id: str
    rows: int
    bytes: int


class ReviewedSavepoint(TypedDict):
    """The savepoint that sizes are from."""

    name: str
    version: int
    barrier: int
    rows: int
    bytes: int
    operators: list[ReviewedState]


class ReviewedSpec(TypedDict):
    """A spec that differs; ``old_file`` is the one that it continues, null for a new pipeline.

    ``code`` is null where nothing is emitted differently, ``migration`` where one version is
    missing or has errors, or both have the same plan. ``diagnostics`` are those of the new version;
    ``old_errors`` is how many errors the old one has.
    """

    file: str
    change: Literal["added", "changed", "moved", "removed"]
    old_file: str | None
    pipeline: str | None
    old_pipeline: str | None
    from_version: int | None
    to_version: int | None
    exit_code: Literal[0, 1, 2]
    diagnostics: list[OneDiagnostic]
    old_errors: int
    code: CodeChange | None
    changes: list[ReviewedChange]
    migration: ReviewedMigration | None
    savepoint: ReviewedSavepoint | None


class Review(TypedDict):
    """``streamc review``: the specs that differ from ``base``, by name."""

    format: Literal[1]
    kind: Literal["review"]
    base: str
    exit_code: Literal[0, 1, 2]
    specs: list[ReviewedSpec]
