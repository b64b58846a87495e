"""Source text with offsets, lines and columns.

A ``Span`` is a half-open range of character offsets into one ``SourceFile``; lines and columns are
computed only when a diagnostic is rendered.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ...contracts.secrets import secret_parts

_LONG_ENOUGH = 4
"""How many characters a text needs to be taken for a secret because of what precedes it."""


class Span(NamedTuple):
    """A half-open range of character offsets, ``start <= offset < end``."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of ``other``."""
        return Span(self.start, other.end)


class Position(NamedTuple):
    """A place in a file, both numbers counted from one."""

    line: int
    column: int


def decoded(content: bytes) -> str:
    """Return UTF-8 text with line feeds as line ends and without a byte order mark.

    Raises ``UnicodeDecodeError``.
    """
    return content.decode("utf-8-sig").replace("\r\n", "\n")


class SourceFile:
    """The text of one spec and its name as given (never made absolute).

    ``folder`` is where it is, None for a text that is not a file. ``secrets`` are those found in
    it, which are never shown.
    """

    def __init__(self, name: str, text: str, folder: Path | None = None) -> None:
        self.name = name
        self.text = text
        self.folder = folder
        self.secrets: set[str] = set()

    @classmethod
    def read(cls, path: Path) -> SourceFile:
        """Read UTF-8 text; raises ``OSError`` or ``UnicodeDecodeError``."""
        return cls(path.as_posix(), decoded(path.read_bytes()), path.parent)

    @property
    def stem(self) -> str:
        """The file's name without folder and extension."""
        return Path(self.name).stem

    @cached_property
    def hidden(self) -> frozenset[str]:
        """What no message about the file may show: its secrets, even where it does not parse."""
        quoted = (
            self.text[start:end]
            for start, end in secret_parts(self.text)
            if self.text[start - 1 : start] in ("'", '"') and end - start >= _LONG_ENOUGH
        )
        return frozenset({*self.secrets, *quoted})

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        return starts

    def position(self, offset: int) -> Position:
        """Return line and column of an offset."""
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Return the text of a line (counted from one) without its line break."""
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def excerpt(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[span.start : span.end]
