"""Lines of programs in a plan, read back: the expressions that each of them computes.

``model.program_text`` writes them.
"""

from __future__ import annotations

from ...dsl.ast.expressions import Expression
from ...dsl.parse import parse_expression
from ...dsl.source import SourceFile

_BEFORE = {
    "set ": " = ",
    "declare ": " = ",
    "for ": " in ",
    "start timer ": " at ",
}
"""How lines begin whose expression stands behind a word or sign, by that."""

_BEHIND = {"remove ": " from ", "add ": " to ", "append ": " to "}
"""How lines begin whose expression comes first, by the word behind it."""

_WHOLE = ("if ", "else if ", "while ")


def expressions_of(line: str) -> tuple[Expression, ...]:
    """Return the expressions of a line; none of one that computes nothing."""
    tree = parsed_expression(_text(line.strip()))
    return () if tree is None else (tree,)


def parsed_expression(text: str) -> Expression | None:
    """Return the tree of a text, None if it is no expression."""
    tree, diagnostics = parse_expression(SourceFile("expression", text))
    return None if len(diagnostics) else tree


def _text(line: str) -> str:
    """Return the expression of a line; several as the arguments of a call."""
    for begins, sign in _BEFORE.items():
        if line.startswith(begins):
            return line.partition(sign)[2]
    for begins, word in _BEHIND.items():
        if line.startswith(begins):
            return line.removeprefix(begins).rpartition(word)[0]
    for begins in _WHOLE:
        if line.startswith(begins):
            return line.removeprefix(begins)
    if line.startswith("put "):
        return f"entry[{line.partition('[')[2]}"
    return f"struct({line.removeprefix('emit ')})" if line.startswith("emit ") else ""
