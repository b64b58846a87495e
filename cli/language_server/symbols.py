"""The statements of a spec, with their columns."""

from __future__ import annotations

from lsprotocol import types as lsp

from ...compiler.resolve.scopes.names import KINDS
from ...dsl.ast import statements as st
from ...dsl.reports.source import Span
from .documents import Analysis
from .names import broken_kind
from .relations import Relations

_SHOWN = {
    "source": lsp.SymbolKind.Interface,
    "table": lsp.SymbolKind.Interface,
    "stream": lsp.SymbolKind.Class,
    "operator": lsp.SymbolKind.Class,
    "side stream": lsp.SymbolKind.Class,
    "sink": lsp.SymbolKind.Event,
    "function": lsp.SymbolKind.Function,
    "aggregate": lsp.SymbolKind.Function,
}


def symbols(analysis: Analysis) -> list[lsp.DocumentSymbol]:
    """Return the statements in order; those with a syntax error have no columns."""
    spec, places = analysis.spec, analysis.places
    relations = Relations(spec, analysis.schemas)
    found: list[tuple[Span, lsp.DocumentSymbol]] = []
    for statement in spec.statements:
        kind = KINDS.get(type(statement))
        if kind is None:
            continue
        name = statement.name  # type: ignore[attr-defined]
        columns = relations.declared(name.text) if name.text in analysis.names.declared else ()
        inside = [
            lsp.DocumentSymbol(
                name=column.name,
                detail=None if column.field is None else str(column.field.type),
                kind=lsp.SymbolKind.Field,
                range=places.range(column.declared),
                selection_range=places.range(column.declared),
            )
            for column in columns
            if column.declared is not None and _inside(column.declared, statement)
        ]
        shown = lsp.DocumentSymbol(
            name=name.text,
            detail=kind,
            kind=_SHOWN[kind],
            range=places.range(statement.span),
            selection_range=places.range(name.span),
            children=inside,
        )
        found.append((statement.span, shown))
    for name in spec.broken:
        kind = broken_kind(analysis.source, name)
        place = places.range(name.span)
        shown = lsp.DocumentSymbol(name.text, _SHOWN[kind], place, place, kind)
        found.append((name.span, shown))
    return [shown for _, shown in sorted(found, key=lambda one: one[0])]


def _inside(span: Span, statement: st.Statement) -> bool:
    return statement.span.start <= span.start and span.end <= statement.span.end
