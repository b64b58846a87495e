"""How deep expressions may be nested, and the diagnostic about one that is deeper."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..reports import codes
from ..reports.diagnostics import Diagnostic, Label
from ..reports.source import SourceFile, Span

_RECURSION_LIMIT = 10_000
"""How deep the phases may recurse: about eight hundred operators in one expression."""


@contextmanager
def deep_calls() -> Iterator[None]:
    """Allow deep recursion; ``RecursionError`` may still be raised."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def too_deep(source: SourceFile) -> Diagnostic:
    """Point at the statement that holds the most: the nesting is no longer known."""
    longest = max(source.text.split(";"), key=len)
    start = source.text.index(longest)
    start += len(longest) - len(longest.lstrip())
    return Diagnostic(
        codes.TOO_DEEP,
        "an expression is nested too deeply to be compiled",
        Label(Span(start, start + len(longest.strip().split("\n")[0]))),
        help="give parts of it names, in a WITH or in separate streams",
    )
