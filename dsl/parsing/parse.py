"""Text to the syntax tree: the only entry point of the parser.

A file is parsed statement by statement. After a mistake the rest of the statement is skipped, so
that all broken statements of a file are reported in one run and the valid ones are in the tree.
"""

from __future__ import annotations

import re
from functools import cache
from typing import cast

from ...contracts.records import dataclass
from ...grammar import load
from ..actions import actions
from ..ast.expressions import Expression
from ..ast.node import Name
from ..ast.statements import FrontMatter, Spec, Statement
from ..hints.syntax import explain
from ..reports import codes
from ..reports.diagnostics import Diagnostics
from ..reports.source import SourceFile, Span
from ..syntax.lalr import Parser, SyntaxFailure
from ..syntax.mistakes import Mistake, open_front_matter
from ..syntax.tokens import Kinds, Tokens, tokenize

_FRONT_MATTER = re.compile(
    r"\s*---[ \t]*(?:\n|\Z)(.*?)(?:^---[ \t]*(?:\n|\Z)|\Z)", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's tree with its diagnostics.

    ``spec`` has the statements without a syntax error; it is None when front matter has no end.
    """

    spec: Spec | None
    diagnostics: Diagnostics


@cache
def parser_and_kinds() -> tuple[Parser, Kinds]:
    """Return the parser of the grammar and the kinds of its words."""
    tables = load()
    return Parser(tables, actions()), Kinds(tables)


def parse(source: SourceFile) -> Parsed:
    """Parse a spec; syntax errors become diagnostics and are never raised."""
    front_matter, start = _front_matter(source)
    if front_matter and not source.text[:start].rstrip().endswith("\n---"):
        diagnostics = Diagnostics(source)
        diagnostics.add(open_front_matter(source))
        return Parsed(None, diagnostics)
    body = _Statements(source, start, across_lines=True)
    if len(body.diagnostics) and body.tokens.has_long_strings:
        # A missing quote turns the text between other quotes into strings, across line ends.
        strict = _Statements(source, start, across_lines=False)
        if len(strict.diagnostics) <= len(body.diagnostics):
            body = strict
    whole = Span(0, len(source.text))
    spec = Spec(whole, front_matter, tuple(body.statements), tuple(body.broken))
    return Parsed(spec, body.diagnostics)


def parse_expression(source: SourceFile) -> tuple[Expression | None, Diagnostics]:
    """Parse a text that is a single expression."""
    parser, kinds = parser_and_kinds()
    diagnostics = Diagnostics(source)
    tokens = tokenize(source, 0, kinds)
    diagnostics.extend(tokens.diagnostics)
    try:
        value, _ = parser.parse("expression", tokens, 0)
    except Mistake as mistake:
        diagnostics.add(mistake.diagnostic)
    except SyntaxFailure as failure:
        diagnostic = explain(parser, failure, tokens, 0)
        diagnostics.extend([diagnostic] if diagnostic else [])
    else:
        return cast(Expression, value), diagnostics
    return None, diagnostics


def tokens_of(text: str) -> Tokens:
    """Return the tokens of a text, also of one that does not parse."""
    return tokenize(SourceFile("text", text), 0, parser_and_kinds()[1])


def statements_begin(source: SourceFile) -> int:
    """Return the offset after the front matter of a spec."""
    return _front_matter(source)[1]


def _front_matter(source: SourceFile) -> tuple[FrontMatter | None, int]:
    """Return the text between two lines of ``---`` at the top, and where the statements begin."""
    match = _FRONT_MATTER.match(source.text)
    if match is None:
        return None, 0
    return FrontMatter(Span(*match.span(1)), match[1]), match.end()


class _Statements:
    """The statements of a file, parsed one by one."""

    def __init__(self, source: SourceFile, start: int, *, across_lines: bool) -> None:
        self._parser, kinds = parser_and_kinds()
        self.tokens = tokenize(source, start, kinds, across_lines=across_lines)
        self.diagnostics = Diagnostics(source)
        self.diagnostics.extend(self.tokens.diagnostics)
        self.statements: list[Statement] = []
        self.broken: list[Name] = []
        self._parse()

    def _parse(self) -> None:
        kinds = self.tokens.kinds
        index = 0
        while kinds[index] != "EOF":
            if kinds[index] == ";":
                index += 1
                continue
            try:
                statement, index = self._parser.parse("statement", self.tokens, index)
            except Mistake as mistake:
                self.diagnostics.add(mistake.diagnostic)
                index = self._next_statement(index, index + 1)
            except SyntaxFailure as failure:
                index = self._recover(failure, index)
            else:
                self.statements.append(cast(Statement, statement))

    def _recover(self, failure: SyntaxFailure, first: int) -> int:
        """Report a failure; return where to resume: at the next statement, or at this one again."""
        diagnostic = explain(self._parser, failure, self.tokens, first)
        if diagnostic:
            self.diagnostics.add(diagnostic)
            if diagnostic.code is codes.MISSING_SEMICOLON:
                self.tokens.insert(failure.index, ";")
                return first
        return self._next_statement(first, failure.index)

    def _next_statement(self, first: int, broken: int) -> int:
        """Return where the statement after a broken one begins; note what the broken one declares.

        That is after a semicolon (after ``END;`` for CREATE OPERATOR, which has others inside), or
        at a CREATE or CHECKPOINT at the beginning of a line.
        """
        tokens = self.tokens
        kinds = tokens.kinds
        program = kinds[first : first + 2] == ["CREATE", "OPERATOR"]
        index = max(broken, first + 1)
        while kinds[index] != "EOF":
            ends = kinds[index - 1] == "END" and kinds[index + 1] not in ("END", "ON")
            if kinds[index] == ";" and (not program or ends):
                break
            if kinds[index] in ("CREATE", "CHECKPOINT") and tokens.begins_line(index):
                break
            index += 1
        self.broken.extend(tokens.declared(first, index))
        return index
