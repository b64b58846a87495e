"""Diagnostics as text with the lines they refer to, as one line each, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ...contracts.redaction import masked
from ...contracts.terminal import printable
from .diagnostics import Diagnostic, Diagnostics, Label, Severity
from .excerpt import Line, marked_lines
from .source import SourceFile

if TYPE_CHECKING:
    from ...contracts.outputs import specs as outputs

FORMATS = ("full", "concise", "json")

_RESET = "\x1b[0m"
_STYLES = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "gutter": "\x1b[1;34m",
    "secondary": "\x1b[34m",
    "help": "\x1b[1;36m",
    "note": "\x1b[1m",
    "bold": "\x1b[1m",
    "plain": "",
}


def render(files: Iterable[Diagnostics], how: str = "full", *, color: bool = False) -> str:
    """Return the diagnostics of some files in one of ``FORMATS``, with a line break at the end.

    Without diagnostics, text formats are empty and JSON has an empty list.
    """
    found = [diagnostics for diagnostics in files if len(diagnostics)]
    if how == "json":
        return render_json(found)
    return render_concise(found) if how == "concise" else render_full(found, color=color)


def render_full(files: Sequence[Diagnostics], *, color: bool = False) -> str:
    """Return every diagnostic with its lines underlined, and a line that counts them.

    That line also says how to learn more.
    """
    painter = _Painter(color)
    blocks = [
        _full(one, diagnostics.source, painter) for diagnostics in files for one in diagnostics
    ]
    if not blocks:
        return ""
    return "\n".join([*blocks, f"{_count(files)}; {_more(files)}\n"])


def render_one(one: Diagnostic, source: SourceFile) -> str:
    """Return one diagnostic with its lines underlined, without color."""
    return _full(one, source, _Painter(False)).rstrip("\n")


def render_concise(files: Sequence[Diagnostics]) -> str:
    """Return a line for each diagnostic: file, line, column, severity, code, message."""
    lines = []
    for diagnostics in files:
        for one in diagnostics:
            line, column = diagnostics.source.position(one.primary.span.start)
            where = f"{diagnostics.source.name}:{line}:{column}"
            message = _shown(one.message, diagnostics.source)
            lines.append(f"{printable(where)}: {_title(one)}: {message}\n")
    return "".join(lines)


def render_json(files: Sequence[Diagnostics]) -> str:
    """Return ``outputs.Diagnostics`` as text."""
    document: outputs.Diagnostics = {
        "format": 1,
        "kind": "diagnostics",
        "diagnostics": objects(files),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def objects(files: Iterable[Diagnostics]) -> list[outputs.OneDiagnostic]:
    """Return the diagnostics of some files as ``outputs.OneDiagnostic``."""
    return [_object(one, found.source) for found in files for one in found]


class _Painter:
    """Colours text where colours are wanted."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, style: str, text: str) -> str:
        codes = _STYLES[style]
        return f"{codes}{text}{_RESET}" if self._color and codes and text else text


def _title(one: Diagnostic) -> str:
    return f"{one.code.severity}[{one.code.number}] {one.code.slug}"


def _full(one: Diagnostic, source: SourceFile, paint: _Painter) -> str:
    severity = one.code.severity.value
    blocks = _blocks(one, source)
    width = max(len(str(line.number)) for block in blocks for line in block)
    bar = paint("gutter", " " * (width + 1) + "|")
    position = source.position(one.primary.span.start)
    where = f"{source.name}:{position.line}:{position.column}"
    lines = [
        f"{paint(severity, _title(one))}{paint('bold', f': {_shown(one.message, source)}')}",
        f"{' ' * width}{paint('gutter', '-->')} {printable(where)}",
    ]
    for block in blocks:
        lines.append(bar)
        lines.extend(_numbered(block, width, severity, paint))
    equals = " " * (width + 1) + paint("gutter", "=")
    indent = "\n" + " " * (width + 3)
    for note in (_shown(note, source) for note in one.notes):
        lines.append(f"{equals} {paint('note', 'note:')} {note.replace(chr(10), indent)}")
    if one.help is not None:
        help_ = _shown(one.help, source).replace("\n", indent)
        lines.append(f"{equals} {paint('help', 'help:')} {help_}")
    return "\n".join(lines) + "\n"


def _blocks(one: Diagnostic, source: SourceFile) -> list[list[Line]]:
    """Return the marked lines of each label; labels in the line of the primary share its block."""
    primary = marked_lines(source, one.primary, "^")
    blocks = [primary]
    for label in one.secondary:
        lines = marked_lines(source, label, "-")
        if len(lines) == len(primary) == 1 and lines[0].number == primary[0].number:
            primary[0].marks.extend(lines[0].marks)
        else:
            blocks.append(lines)
    return blocks


def _numbered(block: list[Line], width: int, severity: str, paint: _Painter) -> list[str]:
    bar = paint("gutter", "|")
    lines = []
    for line in block:
        if line.skipped_before:
            lines.append(paint("gutter", "..."))
        number = paint("gutter", f"{line.number:>{width}}")
        lines.append(f"{number} {bar} {line.text}".rstrip())
        for mark in line.marks:
            style = severity if mark.sign == "^" else "secondary"
            text = printable(mark.text)
            under = paint(style, f"{mark.sign * mark.width} {text}".rstrip())
            lines.append(f"{' ' * width} {bar} {' ' * mark.start}{under}")
    return lines


def _hidden(text: str, source: SourceFile) -> str:
    """Return a text about a file with its secrets hidden."""
    return masked(text, source.hidden)


def _shown(text: str, source: SourceFile) -> str:
    """Return a text about a file in a form that is safe for a terminal."""
    return printable(_hidden(text, source))


def _count(files: Sequence[Diagnostics]) -> str:
    """Return ``2 errors, 1 warning in 1 file``."""
    severities = sorted(one.code.severity.value for found in files for one in found)
    counts = [(name, len(list(group))) for name, group in groupby(severities)]
    told = ", ".join(_plural(number, name) for name, number in counts)
    return f"{told} in {_plural(len(files), 'file')}"


def _more(files: Sequence[Diagnostics]) -> str:
    """Return the command that explains the diagnostics, with the code when there is only one."""
    numbers = {one.code.number for found in files for one in found}
    code = numbers.pop() if len(numbers) == 1 else "CODE"
    return f"`streamc explain {code}` says more"


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _object(one: Diagnostic, source: SourceFile) -> outputs.OneDiagnostic:
    return {
        "code": one.code.number,
        "slug": one.code.slug,
        "severity": "error" if one.code.severity is Severity.ERROR else "warning",
        "message": _hidden(one.message, source),
        "file": source.name,
        "start": _position(one.primary.span.start, source),
        "end": _position(one.primary.span.end, source),
        "labels": [_label(one.primary, source, True)]
        + [_label(label, source, False) for label in one.secondary],
        "notes": [_hidden(note, source) for note in one.notes],
        "help": None if one.help is None else _hidden(one.help, source),
    }


def _label(label: Label, source: SourceFile, primary: bool) -> outputs.Label:
    return {
        "primary": primary,
        "text": label.text,
        "start": _position(label.span.start, source),
        "end": _position(label.span.end, source),
    }


def _position(offset: int, source: SourceFile) -> outputs.Position:
    line, column = source.position(offset)
    return {"line": line, "column": column, "offset": offset}
