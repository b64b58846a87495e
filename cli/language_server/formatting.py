"""A spec in the layout of ``streamc fmt``."""

from __future__ import annotations

from lsprotocol import types as lsp

from ...dsl.layout import format_source
from ...dsl.reports.source import SourceFile, Span
from .positions import Places


def formatting(source: SourceFile) -> list[lsp.TextEdit]:
    """Return the edit of the lines that change; none for a spec with syntax errors."""
    made = format_source(source).text
    if made is None or made == source.text:
        return []
    old, new = source.text, made
    start = _same_lines(old, new)
    end = _same_lines(old[start:][::-1], new[start:][::-1])
    span = Span(start, len(old) - end)
    return [lsp.TextEdit(Places(source.text).range(span), new[start : len(new) - end])]


def _same_lines(a: str, b: str) -> int:
    """Return how many characters both begin with, in whole lines."""
    same = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    return a.rfind("\n", 0, same) + 1
