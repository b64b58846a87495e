"""The concrete tree of a spec: every token as it was written, under the rules of the grammar.

The parser's tables are run with other actions: a rule makes a ``Branch`` of all its symbols,
whereas the syntax tree keeps only what has a meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ...grammar import Rule, load
from ..ast.node import Name
from ..reports.source import SourceFile, Span
from ..syntax.lalr import Action, Parser
from ..syntax.tokens import Kinds, tokenize
from .comments import Leaf, attach, hand_on


@dataclass(slots=True)
class Branch:
    """A rule with its symbols; ``rule`` is the name of its action, or else of its origin."""

    rule: str
    origin: str
    parts: list[Tree]


Tree = Leaf | Branch

_VERBATIM = frozenset(("STRING", "NUMBER", "INTEGER", "AMOUNT"))


@dataclass(slots=True)
class ConcreteStatement:
    """A statement and its semicolon."""

    tree: Branch
    end: Leaf


@dataclass(slots=True)
class ConcreteSpec:
    """The statements of a file, and its end with the comments after them."""

    statements: list[ConcreteStatement]
    end: Leaf


def read(source: SourceFile, start: int) -> ConcreteSpec:
    """Return the concrete tree of a spec without syntax errors; its statements begin at ``start``.

    Raises ``SyntaxFailure`` for one with errors.
    """
    parser, kinds = _parser()
    tokens = tokenize(source, start, kinds)
    trees: list[tuple[Any, int, int]] = []
    lone: list[int] = []
    index = 0
    while tokens.kinds[index] != "EOF":
        if tokens.kinds[index] == ";":
            lone.append(index)
        else:
            first = index
            tree, index = parser.parse("statement", tokens, first)
            trees.append((tree, first, index))
        index += 1
    spans = list(map(Span, tokens.starts, tokens.ends))
    leaves = list(map(Leaf, tokens.kinds, tokens.texts))
    attach(source.text, start, spans, leaves)
    for index in lone:
        hand_on(leaves[index], leaves[index + 1])
    statements = [
        ConcreteStatement(_branch(tree, iter(leaves[first:end])), leaves[end])
        for tree, first, end in trees
    ]
    return ConcreteSpec(statements, leaves[-1])


@cache
def _parser() -> tuple[Parser, Kinds]:
    tables = load()
    rules = tuple(map(_whole, tables.rules))
    actions: dict[str, Action] = {}
    for number, rule in enumerate(rules):
        if rule is not None and rule.action not in (None, "list"):
            actions[str(number)] = _maker(rule.action or rule.origin, rule.origin)
    numbered = tuple(
        replace(rule, action=str(number)) if rule and str(number) in actions else rule
        for number, rule in enumerate(rules)
    )
    return Parser(replace(tables, rules=numbered), actions), Kinds(tables)


def _whole(rule: Rule | None) -> Rule | None:
    """Return an action that keeps all symbols of its rule."""
    if rule is None:
        return None
    symbols: tuple[int, ...] = tuple(range(rule.length))
    if rule.action == "list":
        # A growing list is nested; it is flattened at the end.
        return replace(rule, arguments=symbols, action=rule.origin)
    passed_on = rule.action is None and rule.length <= 1
    action = None if passed_on else rule.action or rule.origin
    return replace(rule, arguments=symbols, action=action)


def _maker(rule: str, origin: str) -> Action:
    def make(_span: Span, *parts: Any) -> Any:
        return (rule, origin, parts)

    return make


def _branch(tree: Any, leaves: Iterator[Leaf]) -> Branch:
    """Return a branch with its tokens as leaves, in order."""
    rule, origin, symbols = tree
    return Branch(rule, origin, list(_parts(symbols, leaves)))


def _parts(symbols: tuple[Any, ...], leaves: Iterator[Leaf]) -> Iterator[Tree]:
    for symbol in symbols:
        if symbol is None:
            continue
        if isinstance(symbol, str | Name):
            leaf = next(leaves)
            if isinstance(symbol, Name):
                leaf.kind = "NAME"
            elif leaf.kind not in _VERBATIM:
                leaf.text = leaf.text.upper()
            yield leaf
        elif symbol[1].startswith("_"):
            yield from _parts(symbol[2], leaves)
        else:
            branch = _branch(symbol, leaves)
            if branch.parts:
                yield branch
