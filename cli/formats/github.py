"""Diagnostics as GitHub's workflow commands, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from ...contracts.redaction import masked
from ...dsl.reports.diagnostics import Diagnostic, Diagnostics
from ...dsl.reports.source import SourceFile

_IN_MESSAGES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_IN_MESSAGES, ":": "%3A", ",": "%2C"}
_MESSAGE = str.maketrans(_IN_MESSAGES)
_PROPERTY = str.maketrans(_IN_PROPERTIES)


def render_github(files: Sequence[Diagnostics]) -> str:
    """Return a command for each diagnostic; its help and notes follow the message."""
    return "".join(_command(one, found.source) for found in files for one in found)


def _command(one: Diagnostic, source: SourceFile) -> str:
    properties = {
        "file": source.name,
        **_place(one, source),
        "title": f"{one.code.number} {one.code.slug}",
    }
    written = ",".join(f"{name}={value.translate(_PROPERTY)}" for name, value in properties.items())
    lines = [one.message, *(f"note: {note}" for note in one.notes)]
    if one.help is not None:
        lines.append(f"help: {one.help}")
    message = masked("\n".join(lines), source.hidden).translate(_MESSAGE)
    return f"::{one.code.severity.value} {written}::{message}\n"


def _place(one: Diagnostic, source: SourceFile) -> dict[str, str]:
    """Return lines and columns; GitHub takes columns within one line only, the last included."""
    start = source.position(one.primary.span.start)
    end = source.position(one.primary.span.end)
    lines = {"line": str(start.line), "endLine": str(end.line)}
    if start.line != end.line:
        return lines
    return {**lines, "col": str(start.column), "endColumn": str(max(start.column, end.column - 1))}
