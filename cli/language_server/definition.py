"""Where a name is declared, and where it is used."""

from __future__ import annotations

from lsprotocol import types as lsp

from .documents import Analysis
from .occurrences import Symbol


def symbol_at(analysis: Analysis, position: lsp.Position) -> Symbol | None:
    """Return what the name at a position stands for."""
    found = analysis.names.at(analysis.places.offset(position))
    return None if found is None else found.symbol


def definition(analysis: Analysis, uri: str, position: lsp.Position) -> lsp.Location | None:
    """Return the name that declares the one at a position."""
    symbol = symbol_at(analysis, position)
    if symbol is None or symbol.declared is None:
        return None
    return lsp.Location(uri, analysis.places.range(symbol.declared))


def references(
    analysis: Analysis, uri: str, position: lsp.Position, *, declaration: bool
) -> list[lsp.Location]:
    """Return where the symbol at a position is named, with or without its declaration."""
    symbol = symbol_at(analysis, position)
    if symbol is None:
        return []
    spans = {one.span for one in analysis.names.of(symbol)}
    spans |= {symbol.declared} if symbol.declared is not None and declaration else set()
    spans -= set() if declaration or symbol.declared is None else {symbol.declared}
    return [lsp.Location(uri, analysis.places.range(span)) for span in sorted(spans)]


def highlights(analysis: Analysis, position: lsp.Position) -> list[lsp.DocumentHighlight]:
    """Return where the symbol at a position is named."""
    found = references(analysis, "", position, declaration=True)
    return [lsp.DocumentHighlight(one.range) for one in found]
