"""Text to tokens, with one regular expression.

A token's *kind* is the name of a terminal of the grammar. A word has the kind of a keyword if it is
one, else ``NAME``; whether a keyword is meant as such is settled by the parser, see
``lalr``. What cannot be read gets the kind ``ERROR`` and a diagnostic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..grammar import Tables
from .diagnostics import Diagnostic
from .source import SourceFile, Span
from .syntax_hints import unreadable

_TOKEN = re.compile(
    r"""(?>[ \t\r\n\f]+ | --[^\n]* | /\*(?>[^*]+|\*(?!/))*+\*/)*+
    (?: ( [rR]'[^']*' | [rR]"[^"]*" )                                        # 1 raw string
      | ( [A-Za-z_][A-Za-z0-9_]* )                                           # 2 word
      | ( , | \( | \) | ; | \.(?!\d) | ->|=> | <=> | <> | != | == | <= | >= | <<
          | >>> | >> | \|\| | :: | [-+*/%=<>\[\]{}:?|&^~!] )                 # 3 symbol
      | ( (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[bB][dD]|[lLsSyYfFdD])?
          (?![A-Za-z0-9_]) )                                                 # 4 number
      | ( '(?>[^'\\]+|\\.|'')*+' | "(?>[^"\\]+|\\.|"")*+" )                  # 5 string
      | ( `(?>[^`]+|``)++` )                                                 # 6 quoted name
      | ( '[^\n]* | "[^\n]* | `[^\n]* | /\*.* | [^\s]\w* )                   # 7 unreadable
    )""",
    re.VERBOSE | re.DOTALL,
)
_RAW, _WORD, _SYMBOL, _NUMBER, _STRING, _QUOTED, _BAD = range(1, 8)

# Several spellings of one terminal.
SPELLINGS = {
    **dict.fromkeys(("<>", "!=", "==", "<=", ">=", "<=>"), "COMPARISON"),
    **dict.fromkeys(("<<", ">>", ">>>"), "SHIFT"),
    **dict.fromkeys(("/", "%"), "DIVISION"),
    "!": "NOT",
    **dict.fromkeys(("LIKE", "ILIKE"), "LIKE"),
    **dict.fromkeys(("RLIKE", "REGEXP"), "RLIKE"),
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "X"), "TYPED"),
    **dict.fromkeys(("TUMBLE", "HOP", "CUMULATE", "SESSION"), "WINDOWING"),
}
UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR")
SPELLINGS.update({unit + plural: "UNIT" for unit in UNITS for plural in ("", "S")})
# Terminals that are no words, and those of several words.
SYMBOLIC = frozenset(
    "NAME ALIAS INTEGER NUMBER STRING AMOUNT UNIT_TO COMPARISON SHIFT DIVISION".split()
)
_CLASSES = SYMBOLIC | {"TYPED", "UNIT", "WINDOWING"}
_LITERALS = ("INTEGER", "NUMBER", "STRING")


@dataclass(slots=True)
class Tokens:
    """The tokens of a file as parallel lists; the last has the kind ``EOF`` and no text."""

    kinds: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def span(self, index: int) -> Span:
        """Return the place of a token."""
        return Span(self.starts[index], self.ends[index])

    def split(self, index: int) -> None:
        """Make each character of a symbol one."""
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


def tokenize(source: SourceFile, start: int, kinds_of: Kinds) -> Tokens:
    """Return the tokens from an offset on; comments and white space are skipped."""
    tokens = Tokens()
    kinds, texts, starts, ends = tokens.kinds, tokens.texts, tokens.starts, tokens.ends
    for match in _TOKEN.finditer(source.text, start):
        group = match.lastindex
        assert group is not None
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
        elif group == _BAD:
            kind = "ERROR"
            tokens.diagnostics.append(unreadable(text, Span(begin, end)))
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
    """Return what a marked token is where the mark is not wanted."""
    if kind == "UNIT_TO":
        return "TO"
    if kind != "AMOUNT":
        return kind
    if text[0] in "'\"rR":
        return "STRING"
    return "INTEGER" if text.isdigit() else "NUMBER"
