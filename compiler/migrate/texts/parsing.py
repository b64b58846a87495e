"""Texts of a plan as trees."""

from __future__ import annotations

from collections.abc import Callable

from ....dsl.ast.expressions import Expression
from ....dsl.ast.node import Node
from ....dsl.ast.walk import rewrite
from ....dsl.format import sql
from ....dsl.parsing.parse import parse_expression
from ....dsl.reports.source import SourceFile
from ...model.same import canonical


def parsed_expression(text: str) -> Expression | None:
    """Return the tree of a text, None if it is not an expression."""
    tree, diagnostics = parse_expression(SourceFile("expression", text))
    return None if len(diagnostics) else tree


def parsed_condition(text: str) -> tuple[str, Expression] | None:
    """Return a condition that rows pass; of a look-up or window, the words up to ON and the rest.

    None of a text that has no expression.
    """
    for word in ("", " ON ", " on "):
        head, on, rest = text.partition(word) if word else ("", "", text)
        tree = parsed_expression(rest) if on == word else None
        if tree is not None:
            return head + on, tree
    return None


def reworded(text: str, change: Callable[[Node], Node | None]) -> str:
    """Return a text in canonical form with other nodes; one that is no expression as it is."""
    found = parsed_condition(text)
    if found is None:
        return text
    head, tree = found
    changed = rewrite(tree, change)
    if changed == tree:
        return text
    return head + sql(canonical(changed))
