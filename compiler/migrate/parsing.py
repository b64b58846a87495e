"""Texts of a plan as trees."""

from __future__ import annotations

from ...dsl.ast.expressions import Expression
from ...dsl.parse import parse_expression
from ...dsl.source import SourceFile


def parsed_expression(text: str) -> Expression | None:
    """Return the tree of a text, None if it is no expression."""
    tree, diagnostics = parse_expression(SourceFile("expression", text))
    return None if len(diagnostics) else tree
