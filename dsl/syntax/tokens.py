"""Text to tokens, with one regular expression.

A token's *kind* is the name of a terminal of the grammar. A word has the kind of a keyword if it is
one, else ``NAME``; the parser decides whether a keyword is meant as such, see ``lalr``. What cannot
be read gets the kind ``ERROR`` and a diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from ...grammar import Tables
from ..ast.node import Name
from ..reports.diagnostics import Diagnostic
from ..reports.source import SourceFile, Span
from .mistakes import unreadable, unseen

_PATTERN = r"""(?>\s+ | --[^\n]* | /\*(?>[^*]+|\*(?!/))*+\*/)*+
    (?: ( [rR]'[^'{ends}]*' | [rR]"[^"{ends}]*" )                            # 1 raw string
      | ( [A-Za-z_][A-Za-z0-9_]* )                                           # 2 word
      | ( , | \( | \) | ; | \.(?!\d) | ->|=> | <=> | <> | != | == | <= | >= | <<
          | >>> | >> | \|\| | :: | /(?!\*) | [-+*%=<>\[\]{{}}:?|&^~!] )               # 3 symbol
      | ( (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[bB][dD]|[lLsSyYfFdD])?
          (?![A-Za-z0-9_]) )                                                 # 4 number
      | ( '(?>[^'\\{ends}]+|\\.|'')*+' | "(?>[^"\\{ends}]+|\\.|"")*+" )      # 5 string
      | ( `(?>[^`{ends}]+|``)++` )                                           # 6 quoted name
      | ( '[^\n]* | "[^\n]* | `[^\n]* | /\*.* | \S\w* )                      # 7 unreadable
      | \Z                                                                   # nothing more
    )"""
_FLAGS = re.VERBOSE | re.DOTALL
_ACROSS_LINES = re.compile(_PATTERN.format(ends=""), _FLAGS)
_RAW, _WORD, _SYMBOL, _NUMBER, _STRING, _QUOTED, _BAD = range(1, 8)

# Several spellings of one terminal.
SPELLINGS = {
    **dict.fromkeys(("<>", "!=", "==", "<=", ">=", "<=>"), "COMPARISON"),
    **dict.fromkeys(("<<", ">>", ">>>"), "SHIFT"),
    **dict.fromkeys(("/", "%"), "DIVISION"),
    "!": "NOT",
    **dict.fromkeys(("LIKE", "ILIKE"), "LIKE"),
    **dict.fromkeys(("RLIKE", "REGEXP"), "RLIKE"),
    **dict.fromkeys(("SUBSTRING", "SUBSTR"), "SUBSTRING"),
    **dict.fromkeys(("ANY", "SOME"), "ANY"),
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "X"), "TYPED"),
    **dict.fromkeys(("TUMBLE", "HOP", "CUMULATE", "SESSION"), "WINDOWING"),
}
UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR")
SPELLINGS.update({unit + plural: "UNIT" for unit in UNITS for plural in ("", "S")})
# Terminals that are not words, and those of several words.
SYMBOLIC = frozenset(
    "NAME ALIAS INTEGER NUMBER STRING AMOUNT UNIT_TO COMPARISON SHIFT DIVISION".split()
)
_CLASSES = SYMBOLIC | {"TYPED", "UNIT", "WINDOWING"}
_BEFORE_KIND = ("MATERIALIZED", "TEMPORARY", "EXTERNAL", "STREAMING", "LIVE")
_LITERALS = ("INTEGER", "NUMBER", "STRING")


@dataclass(slots=True)
class Tokens:
    """The tokens of a file as parallel lists; the last has the kind ``EOF`` and no text."""

    source: SourceFile
    kinds: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def span(self, index: int) -> Span:
        """Return the place of a token."""
        return Span(self.starts[index], self.ends[index])

    def begins_line(self, index: int) -> bool:
        """Return whether a token is the first of its line."""
        text, start = self.source.text, self.starts[index]
        return not text[text.rfind("\n", 0, start) + 1 : start].strip()

    def declared(self, first: int, end: int) -> Iterator[Name]:
        """Yield the names that a statement with these tokens seems to declare."""
        place = self._name_of_created(first) if self.kinds[first] == "CREATE" else None
        for index in range(first + 1, end):
            before = self.kinds[index - 1]
            created = index == place
            sent_to = before == "TO" and self.kinds[index - 2] == "SEND"
            if (created or sent_to) and self.texts[index][0].isidentifier():
                yield Name(self.span(index), self.texts[index])

    def _name_of_created(self, first: int) -> int:
        """Return the position of the name after CREATE, skipping words of other engines."""
        words = [text.upper() for text in self.texts[first + 1 : first + 9]]
        skipped = 2 if words[:1] == ["OR"] else 0
        while words[skipped : skipped + 1] and words[skipped] in _BEFORE_KIND:
            skipped += 1
        skipped += 1
        if words[skipped : skipped + 2] == ["IF", "NOT"]:
            skipped += 3
        return first + 1 + skipped

    @property
    def has_long_strings(self) -> bool:
        """Whether a string or quoted name extends past the end of a line."""
        return any("\n" in text for text in self.texts)

    def insert(self, index: int, symbol: str) -> None:
        """Insert a symbol right after the token before ``index``."""
        place = self.ends[index - 1]
        self.kinds.insert(index, symbol)
        self.texts.insert(index, symbol)
        self.starts.insert(index, place)
        self.ends.insert(index, place)

    def split(self, index: int) -> None:
        """Make each character of a symbol a token."""
        places = range(self.starts[index], self.ends[index])
        self.kinds[index : index + 1] = self.texts[index]
        self.texts[index : index + 1] = self.texts[index]
        self.starts[index : index + 1] = places
        self.ends[index : index + 1] = [place + 1 for place in places]

    def join(self, index: int, kind: str) -> None:
        """Make one token of a token and the next."""
        self.kinds[index : index + 2] = [kind]
        self.texts[index : index + 2] = [self.texts[index] + self.texts[index + 1]]
        del self.starts[index + 1], self.ends[index]


class Kinds(dict[str, str]):
    """The kind of each word and symbol met so far; words in any case."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        words = {t for t in tables.terminals if t.isidentifier()} - _CLASSES
        self.keywords = {word: word for word in words} | {
            w: k for w, k in SPELLINGS.items() if w.isidentifier()
        }
        self.update(
            {
                s: SPELLINGS.get(s, s)
                for s in (*tables.terminals, *SPELLINGS)
                if not s.isidentifier()
            }
        )

    def __missing__(self, word: str) -> str:
        kind = self[word] = self.keywords.get(word.upper(), "NAME")
        return kind


@cache
def _within_lines() -> re.Pattern[str]:
    return re.compile(_PATTERN.format(ends="\\n"), _FLAGS)


def tokenize(
    source: SourceFile, start: int, kinds_of: Kinds, *, across_lines: bool = True
) -> Tokens:
    """Return the tokens from an offset on; comments and white space are skipped.

    A string or quoted name may extend ``across_lines``, or else ends with its line at the latest.
    """
    tokens = Tokens(source)
    pattern = _ACROSS_LINES if across_lines else _within_lines()
    kinds, texts, starts, ends = tokens.kinds, tokens.texts, tokens.starts, tokens.ends
    for match in pattern.finditer(source.text, start):
        group = match.lastindex
        if group is None:
            break
        text = match[group]
        begin, end = match.span(group)
        if group <= _SYMBOL and group != _RAW:
            kind = kinds_of[text]
            if kind == "UNIT":
                _mark_amount(kinds)
            if kind != "NAME" and group == _WORD and kinds and kinds[-1] == ".":
                kind = "NAME"
        elif group == _NUMBER:
            kind = "INTEGER" if text.isdigit() else "NUMBER"
        elif group == _QUOTED:
            kind = "NAME"
            if not text.isprintable() and (wrong := unseen(text, Span(begin, end))):
                tokens.diagnostics.append(wrong)
        elif group == _BAD:
            kind = "ERROR"
            behind = source.text[end : end + 1]
            tokens.diagnostics.append(unreadable(text, Span(begin, end), behind))
        else:
            kind = "STRING"
        kinds.append(kind)
        texts.append(text)
        starts.append(begin)
        ends.append(end)
    kinds.append("EOF")
    texts.append("")
    starts.append(len(source.text))
    ends.append(len(source.text))
    return tokens


def _mark_amount(kinds: list[str]) -> None:
    """Mark a number or string before a unit, and TO between two units; the parser may undo it."""
    if kinds and kinds[-1] in _LITERALS:
        kinds[-1] = "AMOUNT"
    elif kinds[-2:] == ["UNIT", "TO"]:
        kinds[-1] = "UNIT_TO"


def plain_kind(kind: str, text: str) -> str:
    """Return the kind of a marked token without its mark."""
    if kind == "UNIT_TO":
        return "TO"
    if kind != "AMOUNT":
        return kind
    if text[0] in "'\"rR":
        return "STRING"
    return "INTEGER" if text.isdigit() else "NUMBER"
