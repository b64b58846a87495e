"""What is printed: text without secrets, and without characters that control a terminal.

Names, paths and messages come from files that others may have written. An escape sequence in one of
them could hide a line, or put another one in its place.
"""

from __future__ import annotations

import re
import sys
from typing import Any, TextIO

from .redaction import scrub

_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters except tab and line feed, changes of direction, unpaired surrogates."""

_OURS = re.compile(r"(\x1b\[(?:0|1|2|34|1;3[1-6])?m)")
"""The colours of diagnostics, which only a terminal gets."""


def printable(text: str) -> str:
    r"""Return a text in which characters that control a terminal are escaped.

    >>> print(printable("red \x1b[31m, end"))
    red \u001b[31m, end
    """
    if text.isascii() and text.isprintable():
        return text
    return _STEERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def safe(text: str) -> str:
    """Return a text without secrets and control characters."""
    return printable(scrub(text))


def one_line(text: str) -> str:
    r"""Return a text as a part of a line: line feeds and tabs are escaped too.

    >>> print(one_line("a\nb"))
    a\nb
    """
    return printable(text.replace("\n", "\\n").replace("\t", "\\t"))


class SafeStream:
    """A text stream that lets no secret and no control character through.

    Tracebacks and messages of libraries pass through it too.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a message; returns the length that was passed."""
        if self.stream.isatty():
            pieces = _OURS.split(text)
            pieces[::2] = [safe(piece) for piece in pieces[::2]]
            self.stream.write("".join(pieces))
        else:
            self.stream.write(safe(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write each of several texts."""
        for line in lines:
            self.write(line)

    def raw(self, text: str) -> None:
        """Write the content of a file unchanged, unless the output is a terminal."""
        self.stream.write(printable(text) if self.stream.isatty() else text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def guard_streams() -> None:
    """Make this process print through safe streams."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, SafeStream):
            setattr(sys, name, SafeStream(stream))


def print_raw(text: str) -> None:
    """Print rows or a file on standard output, unchanged unless that is a terminal."""
    if isinstance(sys.stdout, SafeStream):
        sys.stdout.raw(text)
    else:
        sys.stdout.write(text)
    sys.stdout.flush()
