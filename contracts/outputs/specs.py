"""What is wrong in specs and in files next to them, what is made of them, and how tests ended."""

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


class CompiledFile(TypedDict):
    """A file of a spec; ``diff`` is how a stale one would change, null for all others."""

    file: str
    status: Literal["wrote", "unchanged", "stale"]
    diff: str | None


class CompiledSpec(TypedDict):
    """A spec without errors: its files, or with ``--stop-after`` the text of that phase."""

    spec: str
    files: list[CompiledFile]
    text: str | None


class Compiled(TypedDict):
    """``streamc compile``; older versions of a pipeline in a folder are skipped."""

    format: Literal[1]
    kind: Literal["compile"]
    exit_code: Literal[0, 1, 2]
    specs: list[CompiledSpec]
    diagnostics: list[OneDiagnostic]


class FormattedSpec(TypedDict):
    """A spec without syntax errors, ``<stdin>`` for standard input; whether its layout differs.

    ``diff`` is present with ``--diff``; ``text`` is standard input in the new layout, which is null
    for files and with ``--check`` and ``--diff``.
    """

    spec: str
    changed: bool
    diff: str | None
    text: str | None


class Formatted(TypedDict):
    """``streamc fmt``; specs with syntax errors are left alone and only in ``diagnostics``."""

    format: Literal[1]
    kind: Literal["fmt"]
    exit_code: Literal[0, 1, 2]
    specs: list[FormattedSpec]
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
