"""Text to the syntax tree: the one entry to the parser.

A file is parsed statement by statement. After a mistake the rest of the statement is skipped, so
that all broken statements of a file are reported in one run and the sound ones are in the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import cast

from ..grammar import load
from . import codes
from .actions import actions
from .ast.expressions import Expression
from .ast.statements import FrontMatter, Spec, Statement
from .diagnostics import Diagnostic, Diagnostics, Label
from .lalr import Parser, SyntaxFailure
from .source import SourceFile, Span
from .syntax_hints import Mistake, open_front_matter
from .tokens import Kinds, Tokens, tokenize

_FRONT_MATTER = re.compile(
    r"\s*---[ \t]*\n(.*?)(?:^---[ \t]*(?:\n|\Z)|\Z)", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's tree with what there is to say about it.

    ``spec`` has the statements without a syntax error; it is None when front matter has no end.
    """

    spec: Spec | None
    diagnostics: Diagnostics


@cache
def _parser() -> tuple[Parser, Kinds]:
    tables = load()
    return Parser(tables, actions()), Kinds(tables)


def parse(source: SourceFile) -> Parsed:
    """Parse a spec; syntax errors are diagnostics and never raised."""
    parser, kinds = _parser()
    diagnostics = Diagnostics(source)
    front_matter, start = _front_matter(source)
    if front_matter and not source.text[:start].rstrip().endswith("\n---"):
        diagnostics.add(open_front_matter(source))
        return Parsed(None, diagnostics)
    tokens = tokenize(source, start, kinds)
    diagnostics.extend(tokens.diagnostics)
    statements = _Statements(parser, tokens, diagnostics).all()
    return Parsed(Spec(Span(0, len(source.text)), front_matter, statements), diagnostics)


def parse_expression(source: SourceFile) -> tuple[Expression | None, Diagnostics]:
    """Parse a text that is one expression."""
    parser, kinds = _parser()
    diagnostics = Diagnostics(source)
    tokens = tokenize(source, 0, kinds)
    diagnostics.extend(tokens.diagnostics)
    try:
        value, _ = parser.parse("expression", tokens, 0)
    except Mistake as mistake:
        diagnostics.add(mistake.diagnostic)
    except SyntaxFailure as failure:
        _report(failure, tokens, diagnostics)
    else:
        return cast(Expression, value), diagnostics
    return None, diagnostics


def _front_matter(source: SourceFile) -> tuple[FrontMatter | None, int]:
    """Return the text between two lines of ``---`` at the top, and where the statements begin."""
    match = _FRONT_MATTER.match(source.text)
    if match is None:
        return None, 0
    return FrontMatter(Span(*match.span(1)), match[1]), match.end()


class _Statements:
    """Parses one statement after the other."""

    def __init__(self, parser: Parser, tokens: Tokens, diagnostics: Diagnostics) -> None:
        self._parser = parser
        self._tokens = tokens
        self._diagnostics = diagnostics

    def all(self) -> tuple[Statement, ...]:
        found: list[Statement] = []
        kinds = self._tokens.kinds
        index = 0
        while kinds[index] != "EOF":
            if kinds[index] == ";":
                index += 1
                continue
            try:
                statement, index = self._parser.parse("statement", self._tokens, index)
            except Mistake as mistake:
                self._diagnostics.add(mistake.diagnostic)
                index = self._next_statement(index, index)
            except SyntaxFailure as failure:
                _report(failure, self._tokens, self._diagnostics)
                index = self._next_statement(index, failure.index)
            else:
                found.append(cast(Statement, statement))
        return tuple(found)

    def _next_statement(self, first: int, broken: int) -> int:
        """Return where the statement behind a broken one begins."""
        kinds = self._tokens.kinds
        index = max(broken, first + 1)
        while kinds[index] not in ("EOF", ";", "CREATE"):
            index += 1
        return index


def _report(failure: SyntaxFailure, tokens: Tokens, diagnostics: Diagnostics) -> None:
    if failure.kind != "ERROR":
        text = tokens.texts[failure.index]
        diagnostics.add(
            Diagnostic(codes.SYNTAX, f"unexpected `{text}`", Label(tokens.span(failure.index)))
        )
