"""The location of a syntax error: the tokens there and around it, and those that were expected."""

from __future__ import annotations

import re

from ...contracts.records import dataclass
from ..reports.diagnostics import Code, Diagnostic, Label
from ..reports.source import Span
from .lalr import RESERVED, Parser
from .tokens import Tokens, plain_kind

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_plain_name(text: str) -> bool:
    """Return whether a text is a name that never needs backticks."""
    return _PLAIN_NAME.fullmatch(text) is not None and text.upper() not in RESERVED


@dataclass(frozen=True, slots=True)
class Place:
    """Where the parser could not continue: token ``at`` of the statement beginning at ``first``."""

    parser: Parser
    tokens: Tokens
    first: int
    at: int
    states: list[int]
    expected: frozenset[str]

    def kind(self, offset: int = 0) -> str:
        """Return the kind of a token counted from the failing one; empty outside the statement."""
        index = self.at + offset
        inside = self.first <= index < len(self.tokens.kinds)
        return plain_kind(self.tokens.kinds[index], self.tokens.texts[index]) if inside else ""

    def text(self, offset: int = 0) -> str:
        """Return the text of a token counted from the failing one; empty outside the statement."""
        index = self.at + offset
        inside = self.first <= index < len(self.tokens.kinds)
        return self.tokens.texts[index] if inside else ""

    def word(self, offset: int = 0) -> str:
        """Return a token's text in upper case."""
        return self.text(offset).upper()

    def is_word(self, offset: int = 0) -> bool:
        """Return whether a token is a word or a name, rather than a symbol or a literal."""
        return self.text(offset).isidentifier() or self.kind(offset) == "NAME"

    def words(self, *words: str, offset: int = 0) -> bool:
        """Return whether the tokens starting at an offset are these words."""
        return all(self.word(offset + i) == word for i, word in enumerate(words))

    def of_statement(self, index: int) -> str:
        """Return a token of the statement in upper case, counted from its first."""
        return self.word(self.first + index - self.at)

    def creates(self, *kinds: str) -> bool:
        """Return whether the statement is a CREATE of one of these kinds."""
        return self.of_statement(0) == "CREATE" and self.of_statement(1) in kinds

    @property
    def created(self) -> str:
        """The name that the statement creates, as it is written."""
        return self.text(self.first + 2 - self.at)

    def span(self, offset: int = 0) -> Span:
        """Return the span of a token counted from the failing one."""
        return self.tokens.span(self.at + offset)

    def would_take(self, *kinds: str) -> bool:
        """Return whether tokens of these kinds could come instead, in this order."""
        return self.parser.accepts(self.states, *kinds)

    def open_bracket(self) -> int | None:
        """Return the innermost bracket of the statement that is still open, as an offset."""
        depth = 0
        for index in range(self.at - 1, self.first - 1, -1):
            if self.tokens.kinds[index] == ")":
                depth += 1
            elif self.tokens.kinds[index] == "(":
                if depth == 0:
                    return index - self.at
                depth -= 1
        return None

    def report(
        self,
        code: Code,
        message: str,
        label: str = "",
        help: str | None = None,
        offset: int = 0,
        secondary: tuple[Label, ...] = (),
    ) -> Diagnostic:
        """Return a diagnostic at a token counted from the failing one."""
        return Diagnostic(code, message, Label(self.span(offset), label), secondary, help=help)
