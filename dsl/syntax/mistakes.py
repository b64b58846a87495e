"""Mistakes found by the tokenizer and the actions of the grammar."""

from __future__ import annotations

import unicodedata

from ..reports import codes
from ..reports.diagnostics import Code, Diagnostic, Label
from ..reports.source import SourceFile, Span

_UNCLOSED = {
    "'": ("string", "end the string with `'`; a quote inside it is written `\\'`"),
    '"': ("string", 'end the string with `"`; a quote inside it is written `\\"`'),
    "`": ("quoted name", "end the name with a backtick"),
    "/": ("comment", "end the comment with `*/`"),
}

_UNSEEN = ("Cc", "Cs", "Zl", "Zp")
"""Categories of characters: control, surrogates, line and paragraph separators."""

_DIRECTIONS = frozenset(
    "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)
"""Direction marks and zero-width spaces. Joiners are parts of words and of emoji."""

_UNREADABLE = {
    "#": "a comment begins with `--`",
    "$": "variables, `${name}`, are only substituted in option values",
    **dict.fromkeys("\u201c\u201d\u2018\u2019\u201e", "write plain quotes: `'`"),
    **dict.fromkeys("\u2013\u2014", "write a plain minus: `-`"),
}


_JSON = {
    "#": "for nested JSON, write `GET_JSON_OBJECT(value, '$.a.b')`, in a VARIANT `value:a.b`",
    "@": "test the parts: `GET_JSON_OBJECT(value, '$.a') = 'x'`, `ARRAY_CONTAINS(tags, 'x')`",
}
"""JSON operators of another engine that begin with a character without a meaning here."""


class Mistake(Exception):
    """A mistake found by an action of the grammar; ends its statement."""

    def __init__(
        self, code: Code, message: str, span: Span, label: str = "", help: str | None = None
    ) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, Label(span, label), help=help)


def unreadable(text: str, span: Span, after: str = "") -> Diagnostic:
    """Return the diagnostic about a text that is not a token, and what follows it."""
    if text[0] in "'\"`" or text.startswith("/*"):
        what, help_ = _UNCLOSED[text[0]]
        start = Span(span.start, span.start + len(text.split("\n", 1)[0].rstrip()))
        return Diagnostic(codes.UNCLOSED, f"a {what} is not closed", Label(start), help=help_)
    if text[0].isdigit():
        help_ = "a name that begins with a digit needs backticks"
        return Diagnostic(codes.UNREADABLE, f"`{text}` is not a number", Label(span), help=help_)
    if not text[0].isprintable():
        message = f"the character U+{ord(text[0]):04X} has no meaning here"
        help_ = "remove it; an editor may show it as a blank or not at all"
        return Diagnostic(codes.UNREADABLE, message, Label(span), help=help_)
    on_json = _JSON.get(text[0]) if after == ">" else None
    message = f"`{text[0]}{'>' if on_json else ''}` has no meaning here"
    found = on_json or _UNREADABLE.get(text[0])
    return Diagnostic(codes.UNREADABLE, message, Label(span), help=found)


def unseen(name: str, span: Span) -> Diagnostic | None:
    """Return the diagnostic about a name in backticks with invisible characters.

    Names appear in comments of scripts, in messages and in line-based file formats: a line end
    would break these, and a direction mark would show another name.
    """
    found = next((c for c in name if _is_unseen(c)), None)
    if found is None:
        return None
    message = f"the name contains the invisible character U+{ord(found):04X}"
    return Diagnostic(
        codes.NAME_CHARACTERS,
        message,
        Label(Span(span.start, span.start + len(name.split("\n", 1)[0].rstrip()))),
        help="names may contain letters, digits, punctuation and spaces, but no line breaks or "
        "control characters",
    )


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN or character in _DIRECTIONS


def open_front_matter(source: SourceFile) -> Diagnostic:
    """Return the diagnostic about front matter without a second line of ``---``."""
    start = source.text.index("---")
    label = Label(Span(start, start + 3), "opened here")
    help_ = "end the front matter with a line of `---`"
    return Diagnostic(codes.UNCLOSED, "front matter is not closed", label, help=help_)


def bad_interval(span: Span, message: str, help: str | None = None) -> Mistake:
    """An interval that Spark cannot take."""
    return Mistake(codes.INTERVAL, message, span, help=help)


def long_star(span: Span) -> Mistake:
    """``a.b.*``."""
    return Mistake(codes.NOT_A_NAME, "`*` can be qualified only with the name of a relation", span)


def not_a_parameter(span: Span) -> Mistake:
    """``(a, b + 1) -> …``."""
    return Mistake(codes.NOT_A_NAME, "a function's parameters are names", span)


def repeated_policy(span: Span, words: str) -> Mistake:
    """ON MALFORMED ROWS or ON FUTURE ROWS twice."""
    return Mistake(codes.REPEATED_CLAUSE, f"`{words}` is given twice", span, "remove one")


def not_a_stream(span: Span) -> Mistake:
    """An expression where an operator's input is named."""
    help_ = "name a source or stream; filter or compute in a separate stream"
    return Mistake(
        codes.NOT_A_NAME, "an operator reads a relation, not an expression", span, help=help_
    )


def not_a_cell(span: Span) -> Mistake:
    """PUT or REMOVE of an entry of something other than a state cell."""
    return Mistake(codes.NOT_A_NAME, "only entries of a state cell can be changed", span)


def window_arguments(span: Span, kind: str, word: str) -> Mistake:
    """``TUMBLE(TABLE t, DESCRIPTOR(ts), …)``."""
    return Mistake(
        codes.WINDOW_WORDS,
        f"`{kind.upper()}` takes plain names, without `{word}`",
        span,
        help=f"`{WINDOW_FORMS[kind.upper()]}`",
    )


ARRAYS_IN_PLACE = (
    "a row for each element: `FROM t CROSS JOIN UNNEST(t.tags) AS tag`; in place, EXISTS, FILTER, "
    "TRANSFORM and AGGREGATE take a lambda, as in `EXISTS(tags, tag -> tag = 'new')`"
)
WINDOW_FORMS = {
    "TUMBLE": "TUMBLE(t, ts, INTERVAL 1 MINUTE)",
    "HOP": "HOP(t, ts, INTERVAL 1 MINUTE, INTERVAL 10 MINUTES)",
    "CUMULATE": "CUMULATE(t, ts, INTERVAL 1 HOUR, INTERVAL 1 DAY)",
    "SESSION": "SESSION(t PARTITION BY k, ts, INTERVAL 30 MINUTES)",
    "COUNT_WINDOW": "COUNT_WINDOW(t PARTITION BY k, 100)",
}
