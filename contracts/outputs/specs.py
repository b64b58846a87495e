"""What is wrong in specs and in files next to them, and the results of their tests."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Position(TypedDict):
    """A place in a file: line and column count from one, the offset from zero."""

    line: int
    column: int
    offset: int


class Label(TypedDict):
    """A part of a file that a diagnostic is about."""

    primary: bool
    text: str
    start: Position
    end: Position


class OneDiagnostic(TypedDict):
    """A mistake or a warning, with its explanation and how to fix it."""

    code: str
    slug: str
    severity: Literal["error", "warning"]
    message: str
    file: str
    start: Position
    end: Position
    labels: list[Label]
    notes: list[str]
    help: str | None


class Diagnostics(TypedDict):
    """What is wrong in specs, tests or migration files: from any command that reads them."""

    format: Literal[1]
    kind: Literal["diagnostics"]
    diagnostics: list[OneDiagnostic]


class ChangedRow(TypedDict):
    """A row that differs in some columns from what was expected."""

    expected: dict[str, Any]
    got: dict[str, Any]


class Failure(TypedDict):
    """An expectation that was not met: of a sink, or of the state of an operator."""

    step: int
    sink: NotRequired[str]
    operator: NotRequired[str]
    missing: list[dict[str, Any]]
    unexpected: list[dict[str, Any]]
    changed: list[ChangedRow]
    disordered: bool


class EndedTest(TypedDict):
    """The result of a test; ``fault`` is the text of an error that ended it."""

    file: str
    line: int
    name: str
    way: str
    passed: bool
    seconds: float
    failures: list[Failure]
    fault: str | None


class Tests(TypedDict):
    """``streamc test``."""

    format: Literal[1]
    kind: Literal["tests"]
    tests: list[EndedTest]
