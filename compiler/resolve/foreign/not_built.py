"""Features of the language that this version does not run: refused, never silently accepted."""

from __future__ import annotations

from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.source import Span


def not_built(feature: str, span: Span, instead: str | None = None) -> Diagnostic:
    """Return the diagnostic for a feature that parses and is not yet built."""
    return Diagnostic(
        codes.NOT_BUILT,
        f"{feature} is not supported yet",
        Label(span, "part of the language, but not supported by this version"),
        help=instead,
    )
