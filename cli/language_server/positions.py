"""Places in a text, as the protocol counts them: lines from zero, columns in UTF-16 code units."""

from __future__ import annotations

from bisect import bisect_right

from lsprotocol import types as lsp

from ...dsl.reports.source import Span


class Places:
    """The places of a text whose line ends are line feeds."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        self._starts.extend(i + 1 for i, char in enumerate(text) if char == "\n")

    def offset(self, position: lsp.Position) -> int:
        """Return the character at a position; one after a line's end is the end of the line."""
        if position.line >= len(self._starts):
            return len(self._text)
        start = self._starts[position.line]
        end = self._text.find("\n", start)
        line = self._text[start:] if end < 0 else self._text[start:end]
        if line.isascii():
            return start + min(position.character, len(line))
        left = position.character
        for index, char in enumerate(line):
            if left <= 0:
                return start + index
            left -= _units(char)
        return start + len(line)

    def position(self, offset: int) -> lsp.Position:
        """Return the position of a character."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : offset]
        return lsp.Position(line, len(before) if before.isascii() else sum(map(_units, before)))

    def range(self, span: Span) -> lsp.Range:
        """Return the range of a span."""
        return lsp.Range(self.position(span.start), self.position(span.end))


def _units(char: str) -> int:
    return 2 if ord(char) > 0xFFFF else 1
