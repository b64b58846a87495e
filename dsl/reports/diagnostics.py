"""What a phase reports about a spec: code, message, labelled spans, help.

Phases collect diagnostics and continue as far as they can; the driver stops between phases when
there are errors. Only ``InternalError`` is raised, and only for faults of the compiler itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from ...contracts.records import dataclass
from .source import SourceFile, Span


class Severity(StrEnum):
    """How bad it is: an error stops the compilation, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Code:
    """An entry of the registry in ``codes.py``; a number is never reused."""

    number: str
    slug: str
    severity: Severity
    summary: str
    since: str


@dataclass(frozen=True, slots=True)
class Label:
    """A span with the short text that is printed next to its underline (may be empty)."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One cause, reported once.

    ``message`` says what is wrong (lower case, no full stop, names in backticks); ``help`` says
    what to do, as text to paste where that is possible.
    """

    code: Code
    message: str
    primary: Label
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None


class InternalError(Exception):
    """A fault of streamc, not of the spec."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; this is a bug in streamc, please report it with the spec")


class Diagnostics:
    """The diagnostics of one file, in the order of file offset and code."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self._found: dict[tuple[str, Span, str], Diagnostic] = {}

    def add(self, diagnostic: Diagnostic) -> None:
        """Record a diagnostic; the same code, span and message is recorded once."""
        key = (diagnostic.code.number, diagnostic.primary.span, diagnostic.message)
        self._found.setdefault(key, diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Record several diagnostics."""
        for diagnostic in diagnostics:
            self.add(diagnostic)

    @property
    def has_errors(self) -> bool:
        """Whether any diagnostic stops the compilation."""
        return self.errors > 0

    @property
    def errors(self) -> int:
        """How many diagnostics stop the compilation."""
        return sum(d.code.severity is Severity.ERROR for d in self._found.values())

    def __iter__(self) -> Iterator[Diagnostic]:
        order = sorted(
            self._found.values(), key=lambda d: (d.primary.span, d.code.number, d.message)
        )
        return iter(order)

    def __len__(self) -> int:
        return len(self._found)
