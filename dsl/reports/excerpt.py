"""The lines that a label refers to, with marks under them, as they look on a terminal."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import field

from ...contracts.records import dataclass
from ...contracts.redaction import masked
from ...contracts.secrets import is_secret_name
from .diagnostics import Label
from .source import SourceFile

_TAB = 4
_SETTING = re.compile(
    r"""\s*["']?([A-Za-z_][\w.-]*)["']?\s*:\s+["']?(?!null\b|\$\{)(.*?)["']?\s*$"""
)
"""A line of front matter that sets something; if it is not YAML, no secrets are known."""
_WHOLE = 4
"""A span with more lines than this is shown by its first and last line."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Marks under a line: where they begin and how many, in terminal cells, and a text."""

    start: int
    width: int
    sign: str
    text: str = ""


@dataclass(slots=True)
class Line:
    """A line of a spec with its marks; tabs are spaces and each character has its cells."""

    number: int
    text: str
    marks: list[Mark] = field(default_factory=list)
    skipped_before: bool = False


def marked_lines(source: SourceFile, label: Label, sign: str) -> list[Line]:
    """Return the lines of a span in order, marked; the label's text follows the last mark."""
    start = source.position(label.span.start)
    end = source.position(max(label.span.end - 1, label.span.start))
    numbers = list(range(start.line, end.line + 1))
    if len(numbers) > _WHOLE:
        numbers = [numbers[0], numbers[-1]]
    lines: list[Line] = []
    for number in numbers:
        raw = source.line(number)
        first = start.column - 1 if number == start.line else len(raw) - len(raw.lstrip())
        last = end.column if number == end.line else len(raw.rstrip())
        text = label.text if number == numbers[-1] else ""
        line = Line(
            number,
            _shown(_without_secrets(source, raw)),
            skipped_before=bool(lines) and number > lines[-1].number + 1,
        )
        if number in (start.line, end.line) or last > first:
            left = _cells(raw[:first])
            line.marks.append(Mark(left, max(_cells(raw[:last]) - left, 1), sign, text))
        lines.append(line)
    return lines


def _without_secrets(source: SourceFile, line: str) -> str:
    """Return a line with each character of a secret replaced by an asterisk."""
    setting = _SETTING.match(line)
    if setting is not None and is_secret_name(setting[1]) and source.text.startswith("---"):
        start, end = setting.span(2)
        line = line[:start] + "*" * (end - start) + line[end:]
    return masked(line, source.hidden)


def _shown(text: str) -> str:
    """Return a line with tabs as spaces, and without characters that would move the cursor."""
    if text.isascii() and text.isprintable():
        return text
    shown = ""
    for char in text:
        if char == "\t":
            shown += " " * (_TAB - _cells(shown) % _TAB)
        else:
            shown += "\N{REPLACEMENT CHARACTER}" if _moves_cursor(char) else char
    return shown


def _cells(text: str) -> int:
    """Return how many terminal cells the beginning of a line takes."""
    if text.isascii() and "\t" not in text:
        return len(text)
    cells = 0
    for char in text:
        cells += _TAB - cells % _TAB if char == "\t" else _width(char)
    return cells


def _moves_cursor(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")


def _width(char: str) -> int:
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return 2
    return 0 if unicodedata.category(char) in ("Mn", "Me") else 1
