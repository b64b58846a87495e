"""Parse errors told as the mistake that was made."""

from __future__ import annotations

from . import codes
from .diagnostics import Diagnostic, Label
from .source import SourceFile, Span


class Mistake(Exception):
    """A mistake that an action of the grammar found; ends the statement it is in."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def open_front_matter(source: SourceFile) -> Diagnostic:
    """Return what there is to say about front matter without a second line of ``---``."""
    start = source.text.index("---")
    label = Label(Span(start, start + 3), "opened here")
    help_ = "end the front matter with a line of `---`"
    return Diagnostic(codes.SYNTAX, "front matter has no end", label, help=help_)


def unreadable(text: str, span: Span) -> Diagnostic:
    """Return what there is to say about a text that is no token."""
    return Diagnostic(codes.SYNTAX, f"`{text}` cannot be read", Label(span))


def bad_interval(span: Span, message: str) -> Mistake:
    """An interval that Spark cannot take."""
    return Mistake(Diagnostic(codes.SYNTAX, message, Label(span)))


def long_star(span: Span) -> Mistake:
    """``a.b.*``."""
    message = "`*` stands behind one relation's name only"
    return Mistake(Diagnostic(codes.SYNTAX, message, Label(span)))


def repeated_policy(span: Span) -> Mistake:
    """ON MALFORMED ROWS or ON FUTURE ROWS twice."""
    return Mistake(Diagnostic(codes.SYNTAX, "a row policy is given twice", Label(span)))


def not_a_stream(span: Span) -> Mistake:
    """An expression where an operator's input is named."""
    message = "an operator's input is not a stream's name"
    return Mistake(Diagnostic(codes.SYNTAX, message, Label(span)))


def not_a_cell(span: Span) -> Mistake:
    """PUT or REMOVE of an entry of something else than a state cell."""
    return Mistake(Diagnostic(codes.SYNTAX, "an entry is not of a state cell", Label(span)))
