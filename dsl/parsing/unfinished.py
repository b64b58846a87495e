"""The statement before a place in a file, and the tokens that could come there.

This is what an editor completes: the text so far is parsed as far as it goes, and what the parser
could continue with is read from its states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ..ast.statements import Statement
from ..reports.source import SourceFile
from ..syntax.lalr import Parser, SyntaxFailure
from ..syntax.mistakes import Mistake
from ..syntax.tokens import SPELLINGS, SYMBOLIC, Tokens, tokenize
from .parse import parser_and_kinds, statements_begin

_BEGINS = ("CREATE", "CHECKPOINT")


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The tokens up to a place, those of its statement from ``first`` on.

    ``expected`` are the kinds that could come next, none after a mistake.
    """

    tokens: Tokens
    first: int
    expected: frozenset[str]
    parser: Parser
    states: list[int]

    @property
    def start(self) -> int:
        """Where the statement begins."""
        return self.tokens.starts[self.first]

    def kind(self, back: int) -> str:
        """Return the kind of a token of the statement, counted back from the place."""
        index = len(self.tokens.kinds) - 1 - back
        return self.tokens.kinds[index] if index >= self.first else ""

    def text(self, back: int) -> str:
        """Return the text of a token of the statement, counted back from the place."""
        index = len(self.tokens.kinds) - 1 - back
        return self.tokens.texts[index] if index >= self.first else ""

    def common_tables(self) -> list[str]:
        """Return the names that WITH has declared so far."""
        kinds, texts = self.tokens.kinds, self.tokens.texts
        return [
            texts[index].strip("`")
            for index in range(self.first + 1, len(kinds) - 3)
            if kinds[index - 1] in ("WITH", ",") and kinds[index + 1 : index + 3] == ["AS", "("]
        ]

    def words(self) -> list[str]:
        """Return the keywords that could come next, with those that must follow them."""
        found = []
        for kind in sorted(self.expected):
            if kind.isidentifier() and kind not in SYMBOLIC:
                rest = self._must_follow(kind)
                found += [" ".join([word, *rest]) for word in _SPELLED.get(kind, (kind,))]
        return found

    def _must_follow(self, kind: str) -> list[str]:
        """Return the keywords of which each is the only token that can follow."""
        kinds: list[str] = []
        while True:
            after = [k for k in self.parser.tables.terminals if self._takes(kind, *kinds, k)]
            only = after[0] if len(after) == 1 else ""
            if not only.isidentifier() or only in SYMBOLIC or only in _SPELLED:
                return kinds
            kinds.append(only)

    def _takes(self, *kinds: str) -> bool:
        return self.parser.accepts(self.states, *kinds)


def _spelled() -> dict[str, tuple[str, ...]]:
    """Return the words of the kinds that have several."""
    found: dict[str, list[str]] = {}
    for word, kind in SPELLINGS.items():
        if word.isidentifier():
            found.setdefault(kind, []).append(word)
    return {kind: tuple(words) for kind, words in found.items()}


_SPELLED = _spelled()


def unfinished(source: SourceFile, offset: int) -> Unfinished | None:
    """Return the statement before a place; None in front matter and in a comment."""
    start = statements_begin(source)
    if offset < start:
        return None
    parser, kinds = parser_and_kinds()
    tokens = tokenize(SourceFile(source.name, source.text[:offset]), start, kinds)
    last = tokens.ends[-2] if len(tokens.ends) > 1 else start
    if "--" in source.text[last:offset].rpartition("\n")[2]:
        return None
    first = _line_with_begin(tokens)
    while True:
        if tokens.kinds[first] == "EOF":
            expected = parser.expected(states := [parser.tables.starts["statement"][0]])
            return Unfinished(tokens, first, expected, parser, states)
        try:
            _, first = parser.parse("statement", tokens, first)
            first += 1
        except SyntaxFailure as failure:
            at_end = tokens.kinds[failure.index] == "EOF"
            expected = parser.expected(failure.states) if at_end else frozenset()
            return Unfinished(tokens, first, expected, parser, failure.states)
        except Mistake:
            return Unfinished(tokens, first, frozenset(), parser, [])


def _line_with_begin(tokens: Tokens) -> int:
    """Return the last token that begins a statement at the beginning of a line."""
    for index in range(len(tokens.kinds) - 2, -1, -1):
        if tokens.kinds[index] in _BEGINS and tokens.begins_line(index):
            return index
    return 0


def parse_statement(source: SourceFile, start: int) -> Statement | None:
    """Return the statement that begins at a place; None if it has a mistake."""
    parser, kinds = parser_and_kinds()
    tokens = tokenize(source, start, kinds)
    try:
        statement, _ = parser.parse("statement", tokens, 0)
    except (Mistake, SyntaxFailure):
        return None
    return cast(Statement, statement)


def end_of_statement(source: SourceFile, start: int) -> int:
    """Return where the next statement begins a line, or the end of the text."""
    _, kinds = parser_and_kinds()
    tokens = tokenize(source, start, kinds)
    for index in range(1, len(tokens.kinds) - 1):
        if tokens.kinds[index] in _BEGINS and tokens.begins_line(index):
            return tokens.starts[index]
    return len(source.text)
